defmodule Ledger.Account do
  @moduledoc """
  An account and what was booked on it.

  Balances are kept in cents.
  """

  use Ecto.Schema
  import Ecto.Query, only: [from: 2]
  alias Ledger.{Booking, Repo}
  require Logger

  @behaviour Ledger.Holder
  @derive {Jason.Encoder, only: [:iban]}
  @max_overdraft 50_000
  @timeout :timer.seconds(5)

  @type t :: %__MODULE__{iban: String.t(), balance: integer()}
  @typep cents :: integer

  @callback holder(t) :: String.t()

  defstruct iban: nil, balance: 0

  schema "accounts" do
    field :iban, :string
    has_many :bookings, Booking
    timestamps()
  end

  defguard is_amount(value) when is_integer(value) and value > 0

  @doc """
  Books an amount on the account.

  ## Examples

      iex> book(account, 100)
  """
  @spec book(t, cents) :: {:ok, t} | {:error, atom}
  def book(account, amount, opts \\ [])

  def book(%__MODULE__{balance: balance} = account, amount, opts) when is_amount(amount) do
    memo = opts |> Keyword.get(:memo, "") |> String.trim
    {:ok, booking} = Repo.insert(%Booking{amount: amount, memo: memo})
    Logger.info("booked #{booking.id}")
    %{account | balance: balance + amount} |> notify() |> wrap
  end

  def book(_account, _amount, _opts), do: {:error, :bad_amount}

  # Tells everyone who listens.
  defp notify(account) do
    Enum.each(listeners(), fn pid -> send(pid, {:booked, account}) end)
    account
  end

  defp wrap(account), do: {:ok, account}

  @doc false
  def a <~> b, do: a.balance - b.balance

  @doc "Opens a transaction around a block."
  defmacro transaction(name, do: block) do
    quote do
      Repo.transaction(fn -> unquote(block) end, name: unquote(name))
    end
  end

  @impl true
  def holder(account) when is_struct(account),
    do: account.iban

  def listeners, do: Registry.lookup(Ledger.Registry, :accounts)

  defdelegate close(account), to: Ledger.Closing

  defmodule Frozen do
    @moduledoc false
    defexception [:message, :iban]
  end
end

defprotocol Ledger.Printable do
  @doc "One line for the statement."
  def line(item)
end

defimpl Ledger.Printable, for: Ledger.Account do
  def line(account), do: "#{account.iban} #{account.balance}"
end

defmodule Ledger.AccountTest do
  use ExUnit.Case, async: true

  setup :open_account

  describe "book/3" do
    test "adds the amount", %{account: account} do
      assert {:ok, _} = Ledger.Account.book(account, 100)
    end
  end

  test "refuses nothing" do
    refute false
  end
end

defimpl Ledger.Summing, for: [Tuple, Map] do
  def sum(rows), do: rows
end

defmodule Ledger.Stretch do
  defimpl Ledger.Summing, for: __MODULE__ do
    def sum(row), do: row
  end
end
