# frozen_string_literal: true

require "json"
require_relative "warehouse/stock"

module Warehouse
  # Raised when an order asks for more than the shelf holds.
  class OutOfStock < StandardError; end

  Error = Class.new(StandardError)

  # One line of a delivery.
  Line = Struct.new(:sku, :count) do
    def total(price)
      price * count
    end
  end

  # Keeps count of what lies on which shelf.
  class Inventory < Base::Store
    include Enumerable
    extend Forwardable

    LOW_WATER_MARK = 10
    UNITS = %w[piece box pallet].freeze

    attr_reader :shelves, :clock
    attr_accessor :currency
    delegate :size, :empty?, to: :shelves
    def_delegators :@shelves, :first
    alias_method :stock, :shelves
    alias inventory shelves

    belongs_to :site
    has_many :movements, dependent: :destroy
    scope :recent, -> { where("moved_at > ?", 1.day.ago) }
    validates :name, presence: true
    before_save :normalize_name

    # Builds an inventory from a JSON dump.
    #
    # Unknown shelves are left out.
    def self.load(path, strict: false, &on_error)
      rows = JSON.parse(File.read(path))
      new(rows).tap { |inventory| inventory.check!(strict, &on_error) }
    end

    class << self
      def default = @default ||= new([])
    end

    def initialize(rows = [], *rest, **options)
      super()
      @rows = rows
    end

    def each
      return enum_for(:each) unless block_given?

      @rows.each { |row| yield row }
    end

    def [](sku)
      @rows.find { |row| row.sku == sku }
    end

    def low?(sku) = self[sku].count < LOW_WATER_MARK

    private def normalize_name
      count, label = name.split(":", 2)
      self.name = label.strip.downcase
    end

    # Moves pieces between shelves.
    define_method(:move) do |from, to|
      from.take(1).each { |piece| to.put(piece) }
    end

    private

    memoize def expensive
      Report::Builder.build(self)
    end
  end
end

class Warehouse::Clerk
  undef_method :fire
end

def Warehouse.open_hours
  8..17
end

DEFAULT_SITE = ENV.fetch("SITE", "north")
$registry = {}

namespace :stock do
  desc "Counts everything again"
  task recount: :environment do
    Warehouse::Inventory.default.each(&:recount)
  end

  task :export, [:path] => [:environment] do |_task, args|
    puts args[:path]
  end
end

RSpec.describe Warehouse::Inventory do
  let(:inventory) { described_class.new([]) }

  it "is empty at first" do
    expect(inventory.to_a).to eq([])
  end
end

LOW, *OTHERS = bounds
FIRST = SECOND = 3
