/*
 * Part of the ledger.
 */
package org.example.ledger;

import java.math.BigDecimal;
import java.util.*;
import static java.util.Objects.requireNonNull;

/**
 * An account with its postings.
 *
 * @param <C> its currency
 */
@Entity
@Table(name = "accounts")
public abstract class Account<C extends Currency> extends Base<C> implements Comparable<Account<C>>, AutoCloseable {

    /** Digits after the point. */
    public static final int SCALE = 2, MAX_SCALE = 6;

    @Inject private Journal journal;

    private final List<Posting> postings = new ArrayList<>();

    static {
        register(Account.class);
    }

    /** Opens an account. */
    protected Account(String owner, BigDecimal... opening) throws LedgerException {
        super(owner);
        for (BigDecimal amount : opening) {
            post(amount, "opening");
        }
    }

    /**
     * Books an amount.
     */
    @Override
    @Transactional(readOnly = false)
    public final <T extends Posting> Optional<T> post(final BigDecimal amount, Map<String, ? super T> notes) {
        requireNonNull(amount, "amount");
        var posting = new Posting(amount.setScale(SCALE), Instant.now());
        try (Lock lock = journal.lock()) {
            journal.append(posting, Comparator.comparing(Posting::amount));
        }
        postings.add(posting);
        return Optional.empty();
    }

    // Left to each kind of account.
    abstract BigDecimal interest(int days);

    public void close() {
        Runnable task = new Runnable() {
            @Override
            public void run() {
                journal.flush();
            }
        };
        task.run();
    }

    /** One booking. */
    public record Posting(BigDecimal amount, @NonNull java.time.Instant at) implements Serializable {
        public Posting {
            requireNonNull(at);
        }

        static Posting zero() {
            return new Posting(BigDecimal.ZERO, Instant.EPOCH);
        }
    }

    enum Side implements Labelled {
        /** Money in. */
        CREDIT("c") {
            @Override
            Side opposite() {
                return DEBIT;
            }
        },
        DEBIT("d");

        private final String label;

        Side(String label) {
            this.label = label;
        }

        Side opposite() {
            return CREDIT;
        }
    }

    sealed interface Event extends Comparable<Event>, Serializable permits Opened, Closed {
        int VERSION = 3;

        default String describe() {
            return getClass().getSimpleName();
        }

        Instant at();
    }
}

/** Marks what an auditor reads. */
@interface Audited {
    String value() default "";
}
