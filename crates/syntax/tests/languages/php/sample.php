<?php

declare(strict_types=1);

namespace Acme\Billing;

use Acme\Money\{Amount, Currency};
use Psr\Log\LoggerInterface;
use function Acme\Support\retry as tryAgain;

const VAT_RATE = 0.19;
define('BILLING_ROOT', __DIR__);

/**
 * Where an invoice stands.
 */
enum Status: string implements HasLabel
{
    case Draft = 'draft';
    case Paid = 'paid';

    public const DEFAULT = self::Draft;

    public static function fromLabel(string $label): self
    {
        return self::from(strtolower($label));
    }
}

interface Payable extends \Countable, HasTotal
{
    /** Takes the money. */
    public function pay(Amount $amount, ?string $note = null): bool;
}

trait Remembers
{
    private array $seen = [];

    protected function remember(string $key): static
    {
        $this->seen[$key] = true;
        return $this;
    }
}

/**
 * An invoice and its lines.
 *
 * @property-read int $number
 */
#[Entity(table: 'invoices')]
final class Invoice extends Document implements Payable, \JsonSerializable
{
    use Remembers;
    use SoftDeletes, Notifies {
        Notifies::send as protected notify;
    }

    /** Days until a reminder goes out. */
    public const REMIND_AFTER = 14, DUNNING_AFTER = 30;

    private ?Customer $customer = null;
    public static int $created = 0;

    public function __construct(
        private readonly LoggerInterface $logger,
        protected array $lines = [],
    ) {
        parent::__construct();
        self::$created++;
    }

    // Sums the lines, taxes included.
    public function total(): Amount
    {
        $net = array_sum(array_map(fn (Line $line) => $line->price(), $this->lines));
        foreach ($this->lines as $line) {
            $net += $line->surcharge();
        }
        return new Amount($net * (1 + VAT_RATE), Currency::of('EUR'));
    }

    /**
     * @throws NotPaid
     */
    #[Override]
    public function pay(Amount $amount, ?string $note = null): bool
    {
        return tryAgain(3, function () use ($amount) {
            return $this->gateway?->charge($amount);
        });
    }

    abstract protected function number(): int;

    public string $label {
        get => ucfirst($this->status->value);
    }
}

/** Reads invoices from a folder. */
function load_invoices(string $folder, int ...$years): iterable
{
    require_once BILLING_ROOT . '/readers.php';
    foreach (glob("$folder/*.json") as $file) {
        yield Invoice::fromJson(file_get_contents($file));
    }
}

$format = static function (Amount $amount): string {
    return sprintf('%.2f', $amount->value());
};

/** The reminder that goes out with an overdue invoice. */
function reminder(Invoice $invoice): string
{
    return <<<TEXT
    Dear {$invoice->name()},
    function and class mean nothing here.
    TEXT . footer();
}

const TERMS = <<<'TERMS'
  Payable within $days days.
  TERMS;

if (! function_exists('invoice')) {
    function invoice($id = null)
    {
        return app(Invoice::class)->find($id);
    }
}

return ['rate' => VAT_RATE];

[$low, $high] = bounds();
