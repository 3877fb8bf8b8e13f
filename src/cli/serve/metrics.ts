import type { Clock } from '../../clock.ts';
import { methods } from '../../http/method.ts';
import type { AccessLogEntry } from '../../service/options.ts';

/** The media type of the text format of Prometheus, version 0.0.4. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

/** The upper bounds of the buckets of durations, in seconds. */
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The maximum number of combinations of labels. Further ones are counted with the value `other` of each label. */
const maxSeries = 2000;

/** Values that are read when the metrics are. A value that is undefined is omitted. */
interface Gauges {
  readonly connections: number;
  readonly nonces: number | undefined;
  readonly journalBytes: number | undefined;
}

/** Durations in buckets, of one combination of labels. */
interface Histogram {
  readonly counts: number[];
  count: number;
  /** In seconds. */
  sum: number;
}

/** Counts requests and syncs for the text format of Prometheus. */
export class ServerMetrics {
  readonly #clock: Clock;
  readonly #begun: number;
  readonly #maxSeries: number;
  readonly #requests = new Map<string, number>();
  readonly #durations = new Map<string, Histogram>();
  readonly #syncs = createHistogram();
  #received = 0;
  #sent = 0;

  constructor(clock: Clock, max = maxSeries) {
    this.#clock = clock;
    this.#begun = clock.steady();
    this.#maxSeries = max;
  }

  /** Counts a request. */
  add({ method, status, scheme, problem, microseconds, bytesReceived, bytesSent }: AccessLogEntry): void {
    // A method that the server does not know is chosen by the client, without a bound.
    const known = methods.some((each) => each === method) || method === 'PATCH' ? method : 'other';
    const labels = formatLabels({ method: known, status: String(status), scheme, problem });
    const isCounted = this.#requests.has(labels) || this.#requests.size < this.#maxSeries;
    const series = isCounted ? labels : otherLabels;
    this.#requests.set(series, (this.#requests.get(series) ?? 0) + 1);
    const labelled = `method="${known}"`;
    const durations = this.#durations.get(labelled) ?? createHistogram();
    this.#durations.set(labelled, durations);
    observe(durations, microseconds / 1e6);
    this.#received += bytesReceived;
    this.#sent += bytesSent;
  }

  /** Counts a sync of the journal, which took `ms` milliseconds. */
  synced(ms: number): void {
    observe(this.#syncs, ms / 1000);
  }

  /** Returns all metrics in the text format of Prometheus. */
  text({ connections, nonces, journalBytes }: Gauges): string {
    const { user, system } = process.cpuUsage();
    const uptime = (this.#clock.steady() - this.#begun) / 1000;
    const syncs: readonly Sample[] | undefined = journalBytes === undefined ? undefined : [['', this.#syncs]];
    const families: readonly Family[] = [
      [
        'countersign_requests_total counter Requests by method, status, scheme and problem type.',
        [...this.#requests],
      ],
      [
        'countersign_request_duration_seconds histogram Time from the header section to the response.',
        [...this.#durations],
      ],
      ['countersign_request_content_bytes_total counter Bytes of content that were read.', this.#received],
      ['countersign_response_content_bytes_total counter Bytes of content in responses.', this.#sent],
      ['countersign_connections gauge Open connections.', connections],
      ['countersign_nonces gauge Nonces that are remembered.', nonces],
      ['countersign_journal_bytes gauge Size of the current journal.', journalBytes],
      ['countersign_journal_sync_duration_seconds histogram Time to sync the journal.', syncs],
      ['countersign_uptime_seconds gauge Time since the start of the server.', uptime],
      ['process_cpu_seconds_total counter CPU time of the process.', (user + system) / 1e6],
      ['process_resident_memory_bytes gauge Resident memory.', process.memoryUsage.rss()],
      [
        'process_start_time_seconds gauge Start of the process since 1970-01-01T00:00:00Z.',
        this.#clock.now() / 1000 - process.uptime(),
      ],
    ];
    return `${families.flatMap(formatFamily).join('\n')}\n`;
  }
}

/** A value with its labels; those of a histogram end with the bounds of the buckets. */
type Sample = readonly [labels: string, value: number | Histogram];

/** A metric: its name, type and description, and its values. A value that is undefined is omitted. */
type Family = readonly [about: string, values: number | readonly Sample[] | undefined];

function formatFamily([about, values]: Family): readonly string[] {
  if (values === undefined) return [];
  const [name = '', type, ...help] = about.split(' ');
  const samples: readonly Sample[] = typeof values === 'number' ? [['', values]] : values;
  return [
    `# HELP ${name} ${help.join(' ')}`,
    `# TYPE ${name} ${type}`,
    ...samples.flatMap(([labels, value]) =>
      typeof value === 'number'
        ? [`${name}${inBraces(labels)} ${value}`]
        : histogramLines(name, labels, value),
    ),
  ];
}

function inBraces(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

function createHistogram(): Histogram {
  return { counts: buckets.map(() => 0), count: 0, sum: 0 };
}

function observe(histogram: Histogram, seconds: number): void {
  const at = buckets.findIndex((bound) => seconds <= bound);
  if (at >= 0) histogram.counts[at] = (histogram.counts[at] ?? 0) + 1;
  histogram.count += 1;
  histogram.sum += seconds;
}

function histogramLines(name: string, labels: string, { counts, count, sum }: Histogram): string[] {
  const prefix = labels === '' ? '' : `${labels},`;
  let total = 0;
  const lines = buckets.map((bound, at) => {
    total += counts[at] ?? 0;
    return `${name}_bucket{${prefix}le="${bound}"} ${total}`;
  });
  return [
    ...lines,
    `${name}_bucket{${prefix}le="+Inf"} ${count}`,
    `${name}_sum${inBraces(labels)} ${sum}`,
    `${name}_count${inBraces(labels)} ${count}`,
  ];
}

/** Returns labels in the text format. A label without a value is empty, which is the same as absent. */
function formatLabels(labels: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(labels)
    .map(([name, value = '']) => `${name}="${escapeLabel(value)}"`)
    .join(',');
}

const otherLabels = formatLabels({ method: 'other', status: 'other', scheme: 'other', problem: 'other' });

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
