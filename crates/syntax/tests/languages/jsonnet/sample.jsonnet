local k = import 'k.libsonnet';
local limit = 64;

// Makes a service.
local service(name, port) = {
  name: name,
  port: port,
};

{
  relay: service('relay', 8080),
  weigh(event):: std.length(event),
}
