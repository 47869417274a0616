import type { AtRest } from './at-rest.ts';
import type { Latency } from './latency.ts';
import type { Round } from './rounds.ts';
import { median } from './stats.ts';

export interface Measured {
  product: Round[];
  bare: Round[];
  alone: Latency;
  crowded: Latency;
  commits: { writes: number; commits: number };
  events: { product: number; bare: number };
  atRest: AtRest | null;
}

interface Summary {
  posts_per_second: number;
  bare_workflows_per_second: number;
  ratio: number;
  ratio_min: number;
  ratio_max: number;
  cpu_ms_per_post: Record<string, number>;
  cpu_ms_per_bare_workflow: Record<string, number>;
  accept_to_call_ms: { alone: Latency; at_30: Latency };
  write_transactions_per_post: number;
  commits_per_post: number;
  history_events_per_post: number;
  history_events_per_bare_workflow: number;
  at_rest: AtRest | null;
}

export function summaryOf({ product, bare, alone, crowded, commits, events, atRest }: Measured): Summary {
  // Neighbouring rounds met the same load of the machine, so their ratio says more than the ratio of two medians.
  const ratios = product.map((round, i) => round.perSecond / bare[i]!.perSecond);
  return {
    posts_per_second: rounded(median(product.map((one) => one.perSecond))),
    bare_workflows_per_second: rounded(median(bare.map((one) => one.perSecond))),
    ratio: rounded(median(ratios), 2), ratio_min: rounded(Math.min(...ratios), 2), ratio_max: rounded(Math.max(...ratios), 2),
    cpu_ms_per_post: cpuOf(product), cpu_ms_per_bare_workflow: cpuOf(bare),
    accept_to_call_ms: { alone, at_30: crowded },
    write_transactions_per_post: rounded(commits.writes, 2), commits_per_post: rounded(commits.commits, 2),
    history_events_per_post: events.product, history_events_per_bare_workflow: events.bare,
    at_rest: atRest === null ? null : { ...atRest, seconds: rounded(atRest.seconds) },
  };
}

function cpuOf(rounds: readonly Round[]): Record<string, number> {
  return Object.fromEntries(Object.keys(rounds[0]!.cpuMs).map((name) => [name, rounded(median(rounds.map((one) => one.cpuMs[name]!)))]));
}

function rounded(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}

export function tableOf(summary: Summary): string {
  const { accept_to_call_ms: latency, at_rest: rest } = summary;
  const rows: [string, string][] = [
    ['posts per second, whole product', String(summary.posts_per_second)],
    ['bare one-activity workflows per second', String(summary.bare_workflows_per_second)],
    ['ratio (lowest–highest round)', `${summary.ratio} (${summary.ratio_min}–${summary.ratio_max})`],
    ['accept → call, lone caller, p50 / p99', `${latency.alone.p50} / ${latency.alone.p99} ms`],
    ['accept → call, 30 at once, p50 / p99', `${latency.at_30.p50} / ${latency.at_30.p99} ms`],
    ['write transactions per post', String(summary.write_transactions_per_post)],
    ['commits per post, reads included', String(summary.commits_per_post)],
    ['history events per post / bare workflow', `${summary.history_events_per_post} / ${summary.history_events_per_bare_workflow}`],
    ['CPU ms per post', cpuText(summary.cpu_ms_per_post)],
    ['CPU ms per bare workflow', cpuText(summary.cpu_ms_per_bare_workflow)],
  ];
  if (rest !== null) {
    rows.push(
      ['scheduled posts at rest', `${rest.posts} (accepted and told in ${rest.seconds} s)`],
      ['history events of each', String(rest.eventsPerWorkflow)],
      ...(['api', 'worker'] as const).flatMap((name): [string, string][] => [
        [`live heap of ${name} before → after`, `${rest.memory.before.liveHeap[name]} → ${rest.memory.after.liveHeap[name]} MiB`],
        [`RSS of ${name}, garbage and snapshot included`, `${rest.memory.before.rss[name]} → ${rest.memory.after.rss[name]} MiB`],
      ]),
    );
  }
  return rows.map(([name, value]) => `${name.padEnd(48)}${value}`).join('\n');
}

function cpuText(cpu: Record<string, number>): string {
  const used = Object.entries(cpu).filter(([, ms]) => ms >= 0.1);
  return used.length === 0 ? 'not known here' : `${used.map(([name, ms]) => `${name} ${ms}`).join(', ')}; sum ${rounded(used.reduce((sum, [, ms]) => sum + ms, 0))}`;
}
