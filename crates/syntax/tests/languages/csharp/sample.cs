#nullable enable
using System;
using static System.Math;
using Rows = System.Collections.Generic.List<string>;

[assembly: CLSCompliant(true)]

namespace Harbor.Billing
{
    /// <summary>
    /// Where an invoice stands.
    /// </summary>
    public enum InvoiceState : byte
    {
        Draft,
        // Sent, not yet paid.
        Open = 2,
    }

    /// <summary>Formats an amount.</summary>
    public delegate string AmountFormat(decimal amount, string currency);

    /// <summary>One invoice.</summary>
    [Serializable]
    [Table("invoices"), Audited]
    public abstract partial class Invoice<T> : Document<T>, IEquatable<Invoice<T>>, IPayable
        where T : Line, new()
    {
        private const int MaxLines = 100, MinLines = 1;
        private readonly Dictionary<string, T> _lines = new();

        /// <summary>Raised when it is paid.</summary>
        public event EventHandler<decimal>? Paid;

        public event Action Changed
        {
            add { _listeners.Add(value); }
            remove { _listeners.Remove(value); }
        }

        [Key]
        public int Id { get; init; }

        public decimal Total => _lines.Values.Sum(l => l.Amount);

        // Never before the date of issue.
        public DateTime Due
        {
            get => _due;
            set { _due = Max(value, Issued); }
        }

        protected Invoice(int id, params T[] lines) : base(id)
        {
            foreach (var line in lines)
            {
                this.Add(line);
            }
        }

        ~Invoice() => Dispose(false);

        /// <summary>Sends it.</summary>
        [Obsolete("use the queue")]
        public static async Task<Receipt?> SendAsync<U>(
            this Invoice<U> invoice,
            [NotNull] IMailer mailer,
            CancellationToken token = default) where U : Line, new()
        {
            var receipt = await mailer.Post<Receipt>(invoice, token);
            int Attempts(int tries) => tries + 1;
            using (var log = Log.Open())
            {
                log?.Write(new Entry<int>(Attempts(1)));
            }
            return receipt;
        }

        public T this[string code] { get { return _lines[code]; } }

        public static Invoice<T> operator +(Invoice<T> a, T line) => a.With(line);
        public static implicit operator decimal(Invoice<T> invoice) => invoice.Total;

        bool IPayable.Pay(decimal amount)
        {
            return amount >= Total;
        }

        protected abstract void Render(IWriter writer, int depth);

        private struct Cursor
        {
            public int Row;
        }
    }

    public interface IPayable : IDocument, IDisposable
    {
        string Currency { get; }

        /// <summary>Pays a part.</summary>
        bool Pay(decimal amount);
    }

    public record Line(string Code, decimal Amount) : Entity(Code), IComparable<Line>
    {
        public int Position { get; init; }
    }

    public readonly record struct Money(decimal Amount, string Currency);

    internal sealed class Ledger(IStore store) : Book(store)
    {
        public void Close() => store.Flush();
    }

    public static class LedgerExtensions
    {
        extension(Ledger ledger)
        {
            public int Pages() => 1;
            public bool IsEmpty => ledger.Total == 0;
        }

        extension<T>(IEnumerable<T> rows) where T : Line
        {
            public IEnumerable<T> Paid() { return rows; }
        }

        public static int Old(this Ledger ledger) => 2;
    }
}

internal class Halves
{
    int Split(Dictionary<int, int> rows)
    {
        var (left, right) = Divide();
        (int low, int high) = Divide();
        foreach (var (key, value) in rows) { }
        return left;
    }
}
