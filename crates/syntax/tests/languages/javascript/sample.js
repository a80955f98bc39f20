'use strict';

const fs = require('node:fs');
const { join } = require('node:path');
import EventEmitter, { once } from 'node:events';
export { parseRange } from './range.js';

/** How many jobs may run at one time. */
export const MAX_JOBS = 8;
let started = false, lastError;

// Waits `delay` milliseconds.
const sleep = (delay) => new Promise((resolve) => setTimeout(resolve, delay));

/**
 * Retries an operation with growing pauses.
 * @param {Function} operation what to try
 */
export async function retry(operation, { attempts, pause }, ...rest) {
  let error;
  for (let i = 0; i < attempts; i++) {
    try {
      return await operation(i, ...rest);
    } catch (e) {
      error = e;
      await sleep(pause * 2 ** i);
    }
  }
  throw new RetryError(`gave up after ${attempts}`, error);
}

function* pages(total, size = 20) {
  for (let at = 0; at < total; at += size) yield at;
}

/** A queue of jobs kept on disk. */
export class JobQueue extends EventEmitter {
  static #open = 0;
  limit = MAX_JOBS;

  constructor(folder) {
    super();
    this.folder = folder;
  }

  /** Number of jobs that wait. */
  get size() {
    return fs.readdirSync(this.folder).length;
  }

  // Bound once, handed out as a listener.
  onFailure = (job, error) => {
    this.emit('failure', job, error);
  };

  async *[Symbol.asyncIterator]() {
    const names = await fs.promises.readdir(this.folder);
    for (const name of names) yield this.#load(name);
  }

  #load(name) {
    const text = fs.readFileSync(join(this.folder, name), 'utf8');
    return JSON.parse(text);
  }
}

class RetryError extends Error {}

/** Formats of a report, by extension. */
export const formats = {
  csv: (rows) => rows.map((row) => row.join(',')).join('\n'),
  json(rows) {
    return JSON.stringify(rows);
  },
};

const defaults = {
  encoding: 'utf8',
  mode: 0o600,
};

// Old style.
function Cache(limit) {
  this.limit = limit;
  this.get = function (key) {
    return this.entries[key];
  };
}

Cache.prototype.put = function put(key, value) {
  this.entries[key] = value;
};

Cache.create = function (limit) {
  return new Cache(limit);
};

exports.open = exports.connect = function open(path) {
  return new JobQueue(path);
};

module.exports.close = async () => {
  started = false;
};

const JobList = memo(function JobList({ jobs }) {
  return <ul>{jobs.map((job) => <JobItem key={job.id} job={job} />)}</ul>;
});

describe('retry', () => {
  const failing = () => Promise.reject(new Error('no'));

  it('gives up after the last attempt', async () => {
    await expect(retry(failing)).rejects.toThrow(RetryError);
  });
});

test.each([1, 2])('takes %i attempts', (attempts) => {
  expect(pages(attempts)).toBeDefined();
});

export default function main(argv) {
  if (argv.includes('--help')) return printHelp();
  return new JobQueue(argv[2]).on('failure', console.error);
}

export const { render, mount: attach, root: { view = null } } = createApp();
const [width, [height = 2], ...sides] = measure();
let { unit } = options;
