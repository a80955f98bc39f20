import { Injectable, Inject } from './container';
import type { Logger } from './logger';
import path = require('node:path');
export * from './errors';

/** Where a cached value came from. */
export enum Source {
  Memory,
  /** The file system. */
  Disk = 'disk',
}

export type Milliseconds = number;

/** How a cache keeps its entries. */
export interface CacheOptions<K> extends BaseOptions, Disposable {
  readonly limit: number;
  /** Called before an entry goes. */
  onEvict?: (key: K, reason: 'age' | 'size') => void;
  hash(key: K): string;
  new (limit: number): CacheOptions<K>;
  [extra: string]: unknown;
}

export type Entry<V> = {
  value: V;
  expires?: Milliseconds;
  refresh: () => Promise<V>;
};

export const DEFAULT_TTL: Milliseconds = 60_000;
export const { hits, misses } = createCounters();
const registry = new Map<string, Cache<unknown, unknown>>();

// The clock, replaced in tests.
let now: () => number = Date.now;

export function isExpired(entry: Entry<unknown>): boolean;
export function isExpired(entry: Entry<unknown>, at: number): boolean;
export function isExpired(entry: Entry<unknown>, at = now()): boolean {
  const limit = entry.expires ?? Infinity;
  return at > limit;
}

function assertKey(key: unknown): asserts key is string {
  if (typeof key !== 'string') throw new TypeError('not a key');
}

/** Looks a cache up by name. */
export const lookup = <V>(name: string, fallback?: Cache<string, V>): Cache<string, V> | undefined => {
  assertKey(name);
  return (registry.get(name) as Cache<string, V>) ?? fallback!.clone();
};

/**
 * Least recently used cache.
 */
@Injectable({ scope: 'request' })
export class Cache<K, V> extends Store<K, V> implements Disposable, Iterable<V> {
  @Inject()
  private readonly logger!: Logger;

  static instances = 0;
  protected abstract size: number;

  constructor(private options: CacheOptions<K>, readonly name?: string) {
    super(options);
    Cache.instances++;
  }

  get(key: K): V | undefined;

  /** Reads, and marks as used. */
  @Timed('get')
  async get(key: K, { touch }: { touch?: boolean }): Promise<V | undefined> {
    const hashed = this.options.hash(key);
    return this.read<V>(hashed, touch);
  }

  private readonly evict = async (key: K): Promise<void> => {
    this.options.onEvict?.(key, 'size');
  };

  *[Symbol.iterator](): Iterator<V> {
    yield* this.values();
  }
}

export abstract class Store<K, V> {
  abstract delete(key: K): boolean;
  protected abstract readonly path: string;
}

export const codecs = {
  json: (value: unknown) => JSON.stringify(value),
  text(value: string) {
    return Buffer.from(value);
  },
} satisfies Record<string, Codec>;

declare module 'container' {
  export function resolve<T>(token: string): T;
  const version: string;
}

declare global {
  interface Window {
    cache: Cache<string, unknown>;
  }
}

namespace Internal.Keys {
  export const PREFIX = 'c:';
  export function join(...parts: string[]): string {
    return PREFIX + parts.map(escape).join(path.sep);
  }
}

export declare const BUILD: string;

describe('Cache', () => {
  it('expires', () => {
    expect(isExpired({ value: 1, expires: 0 } as Entry<number>)).toBe(true);
  });
});

export default class extends Cache<string, Buffer> {}

export const { dispatch, state: current }: Store = createStore();
const [left, right]: [number, number] = span();
