# Infrastructure of the relay.
terraform {
  required_version = ">= 1.6"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

provider "aws" {
  region = var.region
}

variable "region" {
  description = "Where the relay runs."
  type        = string
  default     = "eu-central-1"
}

locals {
  # Put on everything.
  tags = {
    service = "relay"
    stage   = terraform.workspace
  }
  name = "relay-${terraform.workspace}"
}

/* The machines behind the balancer. */
resource "aws_instance" "relay" {
  count         = length(var.zones)
  ami           = data.aws_ami.debian.id
  instance_type = "t3.small"
  tags          = merge(local.tags, { Name = format("%s-%d", local.name, count.index) })

  root_block_device {
    volume_size = 20
  }

  dynamic "ebs_block_device" {
    for_each = var.disks
    content {
      device_name = ebs_block_device.key
    }
  }
}

// The newest image.
data "aws_ami" "debian" {
  most_recent = true
}

module "network" {
  source = "./modules/network"
  cidr   = cidrsubnet("10.0.0.0/8", 8, 1)
}

output "address" {
  value = aws_instance.relay[0].public_ip
}
