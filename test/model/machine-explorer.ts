/**
 * Every order in which leaders (the product's reducer with its workflows), hosts, sinks and the bucket can act, under a budget
 * of faults: a stop at any moment in any mode, a reset of the leader whose old instance lives on, a lost host, a checkpoint
 * attempt that expires too early, a lost acknowledgement, requests that are lost or late, another generation at any
 * moment, with another parallelism or a reset of state.
 *
 * Reductions, each with its reason. Deployment, adoption, begin, stop and their answers take no time of their own: they only
 * touch fields of one host each, and the leader acts when the last is in, so orders of them meet in one state. A deadline
 * passes when nothing else can happen (else it is the fault "expires"): a deadline that passes earlier has the effects of a
 * failure at that moment, which the lost host and the next generation explore. Barriers, commits, `settled` and the
 * reports of cuts take time and arrive in any order. A replaced instance that O1 still names may find that hosts do not follow it,
 * open the lineage, and find the same again: after some workflows it is taken for dead, which it may be at any time.
 */
import type { LeaderEffect } from '../../src/leader/interface.ts';
import { newLeader } from '../../src/leader/state.ts';
import type { PersistedLeader } from '../../src/leader/state.ts';
import { allocateGeneration } from '../../src/lineage/allocate.ts';
import { checkpointManifestCodec } from '../../src/lineage/codec.ts';
import type { GenerationSpec, HostReport, Outcome, StopMode } from '../../src/protocol/messages.ts';
import { specFor } from '../harness/leader-script.ts';
import { PATHS } from '../harness/lineage-leader.ts';
import { Buckets } from './bucket.ts';
import { Interner } from './interning.ts';
import { Machines, MACHINE } from './machine.ts';
import type { MachineEvent, MachinePrograms } from './machine.ts';
import { drained, emptyHost, obey, PARTITIONS, SINKS } from './machine-hosts.ts';
import type { ModelHost } from './machine-hosts.ts';
import { Oracle } from './oracle.ts';
import { demand, search } from './search.ts';
import type { Emit, Report } from './search.ts';

/** How many of each along one history. */
export type Faults = {
  losses: number;
  delays: number;
  stops: number;
  resets: number;
  hostLosses: number;
  expiries: number;
  /** Acknowledgements of a commit that get lost. */
  silences: number;
};

export const NO_FAULTS: Faults = {
  losses: 0,
  delays: 0,
  stops: 0,
  resets: 0,
  hostLosses: 0,
  expiries: 0,
  silences: 0,
};

export type MachineExploration = {
  /** Parallelism of generation 1, 2, …; each later one may begin at any moment after the one before. */
  parallelism: readonly number[];
  /** Rows of each partition; one is read before each cut. */
  rows: number;
  /** Epochs kept by collection. */
  keep: number;
  faults: Partial<Faults>;
  stopModes?: readonly StopMode[];
  /** Generations that forget the state that older ones left. */
  forgetting?: readonly number[];
  programs?: MachinePrograms;
  statesMax?: number;
};

/** One construction of a leader's object. The newest of a generation hears what is addressed to the object. */
type Slot = {
  generation: number;
  instance: number;
  alive: boolean;
  /** Of a replaced one: the last workflow that it is followed through. */
  until: number | null;
};

/** Workflows through which a replaced instance is followed: it reopens the lineage once and would then repeat itself. */
const ZOMBIE_WORKFLOWS = 5;

type World = {
  left: Faults;
  slots: Slot[];
  /** By generation − 1: what its leader's object has stored. */
  stored: { started: boolean; persisted: PersistedLeader | null; starts: number }[];
  hosts: ModelHost[][];
  incarnations: number;
};

type State = { bucket: number; memory: number; world: World; flights: number[] };

const NOTHING = -1;

export class MachineExplorer {
  readonly #options: MachineExploration;
  readonly #programs: MachinePrograms;
  readonly #buckets = new Buckets();
  readonly #oracle: Oracle;
  readonly #machines: Machines;
  readonly #worlds = new Interner<World>();
  readonly #delays: number;
  #emit: Emit = () => {};
  #moved = false;
  /** Outcomes seen, for the test to see that the bounds are worth something. */
  readonly outcomes = new Set<string>();

  constructor(options: MachineExploration) {
    this.#options = options;
    this.#programs = options.programs ?? MACHINE;
    this.#delays = options.faults.delays ?? 0;
    const rows = Array.from({ length: PARTITIONS }, () => 0);
    const targets = SINKS.map((sink) => ({ sink, lastEpoch: 0, rows }));
    this.#oracle = new Oracle(this.#buckets, targets);
    this.#machines = new Machines(this.#buckets, this.#programs);
  }

  explore(): Report {
    const first: State = {
      bucket: this.#buckets.empty,
      memory: this.#oracle.empty,
      world: {
        left: { ...NO_FAULTS, ...this.#options.faults },
        slots: [],
        stored: [],
        hosts: [],
        incarnations: 0,
      },
      flights: [],
    };
    return search(
      {
        width: 3 + this.#delays,
        initial: this.#encode(this.#begin(first)),
        expand: (row, emit) => this.#expand(this.#decode(row), emit),
      },
      this.#options.statesMax,
    );
  }

  #encode({ bucket, memory, world, flights }: State): number[] {
    const number = this.#worlds.intern(JSON.stringify(world), () => world);
    const row = [bucket, memory, number, ...flights];
    while (row.length < 3 + this.#delays) row.push(NOTHING);
    return row;
  }

  #decode([bucket = 0, memory = 0, world = 0, ...flights]: readonly number[]): State {
    const open = flights.filter((flight) => flight !== NOTHING);
    return { bucket, memory, world: this.#worlds.value(world), flights: open };
  }

  #expand(state: State, emit: Emit): void {
    this.#emit = emit;
    this.#moved = false;
    for (const [slot, { alive }] of state.world.slots.entries())
      if (alive) this.#moveFlows(state, slot);
    for (const [generation, hosts] of state.world.hosts.entries())
      for (const index of hosts.keys()) this.#moveHost(state, generation + 1, index);
    for (const index of state.flights.keys()) this.#land(state, index);
    if (!this.#moved) this.#passDeadline(state);
    const quiet = !this.#moved;
    this.#moveFaults(state);
    if (quiet) this.#watchEnd(state);
  }

  #move(text: () => string, state: State): void {
    this.#moved = true;
    this.#emit(this.#encode(state), text);
  }

  /** The newest construction of a generation's object. */
  #current({ slots }: World, generation: number): number {
    return slots.findLastIndex((slot) => slot.generation === generation);
  }

  #newest(world: World): number {
    return this.#current(world, world.stored.length);
  }

  #leader(world: World, slot: number) {
    return this.#machines.instance((world.slots[slot] as Slot).instance).leader;
  }

  /** Allocates the next generation and starts its leader, as one move: `explorer.ts` splits it. */
  #begin(state: State): State {
    const generation = state.world.stored.length + 1;
    let { bucket, memory } = state;
    const workflow = allocateGeneration(
      { paths: PATHS, nowMs: 0, writeId: `c${generation}` },
      generation - 1,
    );
    for (let next = workflow.next(); next.done !== true;) {
      if (next.value.op === 'pause') throw new Error('no fault, no pause');
      const applied = this.#buckets.apply(bucket, this.#buckets.internOp(next.value));
      memory = this.#oracle.watch(memory, next.value, bucket, applied.bucket);
      bucket = applied.bucket;
      next = workflow.next(this.#buckets.answer(applied.answer));
    }
    const parallelism = this.#options.parallelism[generation - 1] ?? 1;
    const world: World = {
      ...state.world,
      stored: [...state.world.stored, { started: false, persisted: null, starts: 0 }],
      hosts: [
        ...state.world.hosts,
        Array.from({ length: parallelism }, (_, index) => emptyHost(`h${generation}-${index}`)),
      ],
    };
    const woken = this.#wake({ ...state, bucket, memory, world }, generation);
    return this.#feed(woken, this.#newest(woken.world), {
      tag: 'start',
      spec: this.#spec(generation),
    });
  }

  #spec(generation: number): GenerationSpec {
    const base = specFor({
      generation,
      parallelism: this.#options.parallelism[generation - 1] ?? 1,
      checkpointIntervalMs: 0,
      reset: this.#options.forgetting?.includes(generation) ?? false,
    });
    return {
      ...base,
      settings: { ...base.settings, heartbeatTimeoutMs: 1e12, checkpointsKept: this.#options.keep },
    };
  }

  /** A new construction of the object of a generation. */
  #wake(state: State, generation: number): State {
    const { world } = state;
    const old = world.stored[generation - 1] as World['stored'][number];
    const starts = old.starts + 1;
    const incarnation = {
      objectId: `leader${generation}`,
      startNo: starts,
      nonce: `n${generation}-${starts}`,
    };
    const instance = this.#machines.create(incarnation, newLeader());
    const slots = world.slots.map((slot) =>
      slot.generation === generation && slot.until === null
        ? { ...slot, until: this.#workflows(slot) + ZOMBIE_WORKFLOWS }
        : slot,
    );
    const next: World = {
      ...world,
      stored: world.stored.with(generation - 1, { ...old, starts }),
      slots: [...slots, { generation, instance, alive: true, until: null }],
    };
    return this.#feed({ ...state, world: next }, next.slots.length - 1, {
      tag: 'woke',
      incarnation,
      spec: old.started ? this.#spec(generation) : null,
      persisted: old.persisted,
    });
  }

  /** One step of an instance with all that follows at once. */
  #feed(state: State, slot: number, event: MachineEvent, nowMs = 0): State {
    const placed = state.world.slots[slot] as Slot;
    const { alive, instance } = placed;
    if (!alive) return state;
    const before = this.#leader(state.world, slot).outcome;
    const transition = this.#machines.feed(instance, event, nowMs);
    let next = this.#place(state, slot, { ...placed, instance: transition.instance });
    const { outcome } = this.#leader(next.world, slot);
    if (before === null && outcome !== null) this.#watchOutcome(next, slot, outcome);
    for (const effect of transition.effects) next = this.#perform(next, slot, effect);
    const after = next.world.slots[slot] as Slot;
    if (after.until === null || this.#workflows(after) <= after.until) return next;
    return this.#place(next, slot, { ...after, alive: false });
  }

  #workflows({ instance }: Slot): number {
    return this.#machines.instance(instance).leader.lastOperationId;
  }

  #place(state: State, slot: number, placed: Slot): State {
    return { ...state, world: { ...state.world, slots: state.world.slots.with(slot, placed) } };
  }

  #perform(state: State, slot: number, effect: LeaderEffect): State {
    const { world } = state;
    const mine = world.slots[slot] as Slot;
    const { generation } = mine;
    if (!mine.alive) return state;
    if (effect.tag === 'persist') {
      // A replaced instance fails at its next access to storage.
      if (slot !== this.#current(world, generation))
        return this.#place(state, slot, { ...mine, alive: false });
      const old = world.stored[generation - 1] as World['stored'][number];
      const persisted = { ...effect.persisted, startedMs: 0, runningSinceMs: null, recent: [] };
      const stored = { ...old, started: true, persisted };
      return { ...state, world: { ...world, stored: world.stored.with(generation - 1, stored) } };
    }
    if (effect.tag !== 'send') return state;
    const { index, envelope } = effect;
    const { tag } = envelope.command;
    if (tag === 'barrier' || tag === 'commit' || tag === 'settled') {
      return this.#changeHost(state, generation, index, (host) => ({
        ...host,
        mail: [...host.mail, { slot, envelope }],
      }));
    }
    if (tag === 'begin') this.#watchBegin(state, slot, index);
    return this.#deliver(state, generation, index, slot, envelope);
  }

  #host({ hosts }: World, generation: number, index: number): ModelHost {
    return hosts[generation - 1]?.[index] as ModelHost;
  }

  #changeHost(
    state: State,
    generation: number,
    index: number,
    change: (host: ModelHost) => ModelHost,
  ): State {
    const { world } = state;
    const old = world.hosts[generation - 1] as ModelHost[];
    const hosts = world.hosts.with(
      generation - 1,
      old.with(index, change(old[index] as ModelHost)),
    );
    return { ...state, world: { ...world, hosts } };
  }

  /** The host obeys; its answer and reports arrive at once, but for those of cuts. */
  #deliver(
    state: State,
    generation: number,
    index: number,
    slot: number,
    envelope: Extract<LeaderEffect, { tag: 'send' }>['envelope'],
  ): State {
    const before = this.#host(state.world, generation, index);
    const obeyed = obey(before, envelope, this.#programs.hosts, this.#options.rows);
    const later = obeyed.reports.filter((report) => report.tag === 'checkpointed');
    let next = this.#changeHost(state, generation, index, () => ({
      ...obeyed.host,
      reports: [
        ...obeyed.host.reports,
        ...later.map((report) => ({ leader: obeyed.host.leader, report })),
      ],
    }));
    const { sequence } = envelope;
    next = this.#feed(next, slot, { tag: 'answer', index, sequence, answer: obeyed.answer });
    for (const report of obeyed.reports)
      if (report.tag !== 'checkpointed')
        next = this.#report(next, generation, index, obeyed.host.leader, report);
    return next;
  }

  #report(
    state: State,
    generation: number,
    index: number,
    leader: string,
    report: HostReport,
  ): State {
    const { incarnation } = this.#host(state.world, generation, index);
    const envelope = { pipelineId: 'pl_1', generation, leader, index, host: incarnation, report };
    const slot = this.#current(state.world, generation);
    // The sequence matters for repeated reports of `deployed` and heartbeats only; none is repeated here.
    const sequence = this.#leader(state.world, slot).hosts[index]?.commandSequence ?? 0;
    return this.#feed(state, slot, { tag: 'report', envelope: { ...envelope, sequence } });
  }

  #moveFlows(state: State, slot: number): void {
    const { instance } = state.world.slots[slot] as Slot;
    const { me, flows } = this.#machines.instance(instance);
    for (const at of flows.keys()) {
      const op = this.#machines.request(instance, at);
      const request = this.#buckets.op(op);
      this.#oracle.watchIntent(request, me.nonce);
      const text = (): string =>
        `${me.nonce}: ${request.op} ${'key' in request ? request.key : ''}`;
      const applied = this.#buckets.apply(state.bucket, op);
      const memory = this.#oracle.watch(state.memory, request, state.bucket, applied.bucket);
      const after = { ...state, bucket: applied.bucket, memory };
      const { tag } = this.#buckets.answer(applied.answer);
      this.#move(() => `${text()} → ${tag}`, this.#proceed(after, slot, at, applied.answer));
      if (request.op !== 'put' && request.op !== 'delete') continue;
      const lost = this.#buckets.internAnswer(
        request.op === 'put'
          ? { tag: 'unknown', message: 'lost' }
          : { tag: 'failed', message: 'lost' },
      );
      if (state.world.left.losses > 0 && applied.bucket !== state.bucket)
        this.#move(
          () => `${text()} → ${tag}, answer lost`,
          this.#proceed(spend(after, 'losses'), slot, at, lost),
        );
      if (state.world.left.delays > 0) {
        const flights = [...state.flights, op].sort((left, right) => left - right);
        this.#move(
          () => `${text()} → delayed`,
          this.#proceed(spend({ ...state, flights }, 'delays'), slot, at, lost),
        );
      }
    }
  }

  #proceed(state: State, slot: number, at: number, answer: number): State {
    const placed = state.world.slots[slot] as Slot;
    const { instance, done } = this.#machines.answer(placed.instance, at, answer);
    const next = this.#place(state, slot, { ...placed, instance });
    if (done === null) return next;
    return this.#feed(next, slot, { tag: 'lineage-done', ...done });
  }

  #moveHost(state: State, generation: number, index: number): void {
    const host = this.#host(state.world, generation, index);
    for (const [at, { slot, envelope }] of host.mail.entries()) {
      const taken = this.#changeHost(state, generation, index, (each) => ({
        ...each,
        mail: each.mail.toSpliced(at, 1),
      }));
      const { command } = envelope;
      const text = (): string => `host ${host.incarnation} hears ${command.tag} ${envelope.leader}`;
      if (command.tag !== 'commit') {
        this.#move(text, this.#deliver(taken, generation, index, slot, envelope));
        continue;
      }
      const delivered = this.#deliver(taken, generation, index, slot, envelope);
      if (envelope.host !== host.incarnation || envelope.leader !== host.leader) {
        this.#move(text, delivered);
        continue;
      }
      const sinks = [...new Set(command.items.map((item) => item.sink))];
      let { memory } = delivered;
      for (const sink of sinks) {
        const items = command.items.filter((item) => item.sink === sink);
        memory = this.#oracle.watchItems(memory, sink, command.epoch, items);
      }
      const committed = { ...delivered, memory };
      const { epoch } = command;
      const said = (): string => `${text()}: epoch ${epoch} of ${sinks.join(' and ')}`;
      this.#move(
        said,
        this.#report(committed, generation, index, host.leader, { tag: 'committed', epoch, sinks }),
      );
      if (state.world.left.silences > 0)
        this.#move(() => `${said()}, not acknowledged`, spend(committed, 'silences'));
    }
    for (const [at, { leader, report }] of host.reports.entries()) {
      const taken = this.#changeHost(state, generation, index, (each) => ({
        ...each,
        reports: each.reports.toSpliced(at, 1),
      }));
      this.#move(
        () => `host ${host.incarnation} reports ${report.tag}`,
        this.#report(taken, generation, index, leader, report),
      );
    }
  }

  #land(state: State, index: number): void {
    const op = state.flights[index] as number;
    const request = this.#buckets.op(op);
    const applied = this.#buckets.apply(state.bucket, op);
    const memory = this.#oracle.watch(state.memory, request, state.bucket, applied.bucket);
    const flights = state.flights.toSpliced(index, 1);
    this.#move(() => `late: ${request.op} ${'key' in request ? request.key : ''}`, {
      ...state,
      flights,
      memory,
      bucket: applied.bucket,
    });
  }

  /** Nothing else can happen: time passes until the newest leader's next deadline. */
  #passDeadline(state: State): void {
    const slot = this.#newest(state.world);
    const { activity } = this.#leader(state.world, slot);
    if (activity.tag === 'none') return;
    const atMs =
      activity.tag === 'storing'
        ? (activity.retryAtMs ?? activity.deadlineMs)
        : activity.deadlineMs;
    this.#move(
      () => `the deadline of ${activity.tag} passes`,
      this.#feed(state, slot, { tag: 'tick' }, atMs),
    );
  }

  #moveFaults(state: State): void {
    const { world } = state;
    const { left } = world;
    const generation = world.stored.length;
    const slot = this.#newest(world);
    const { phase, activity } = this.#leader(world, slot);
    if (generation < this.#options.parallelism.length)
      this.#move(() => `generation ${generation + 1} begins`, this.#begin(state));
    if (phase === 'ended') return;
    if (left.stops > 0)
      for (const mode of this.#options.stopModes ?? ['checkpoint', 'graceful', 'immediate'])
        this.#move(
          () => `stop ${mode} while ${phase} ${activity.tag}`,
          this.#feed(spend(state, 'stops'), slot, { tag: 'stop', mode, nonce: 's' }),
        );
    if (left.resets > 0)
      this.#move(
        () => `the leader of generation ${generation} is reset, its old instance lives on`,
        this.#wake(spend(state, 'resets'), generation),
      );
    if (left.expiries > 0 && activity.tag === 'collecting')
      this.#move(
        () => 'the attempt expires',
        this.#feed(spend(state, 'expiries'), slot, { tag: 'tick' }, activity.deadlineMs),
      );
    if (left.hostLosses > 0) this.#loseHosts(state, generation, slot);
  }

  #loseHosts(state: State, generation: number, slot: number): void {
    for (const [index, host] of (state.world.hosts[generation - 1] ?? []).entries()) {
      if (host.phase === 'empty') continue;
      const spent = spend(state, 'hostLosses');
      const incarnations = spent.world.incarnations + 1;
      const counted = { ...spent, world: { ...spent.world, incarnations } };
      const lost = this.#changeHost(counted, generation, index, ({ mail }) => ({
        ...emptyHost(`again${incarnations}`),
        mail,
      }));
      this.#move(
        () => `host ${host.incarnation} is lost`,
        this.#feed(lost, slot, { tag: 'host-lost', index, reason: 'reset' }),
      );
    }
  }

  /** I12 and I6: when sources of the owner begin, nothing is left to redo and hosts hold what the tip says. */
  #watchBegin(state: State, slot: number, index: number): void {
    const { generation, instance } = state.world.slots[slot] as Slot;
    const { me } = this.#machines.instance(instance);
    const objects = this.#buckets.objects(state.bucket);
    if (this.#oracle.owner(objects)?.incarnation?.nonce !== me.nonce) return;
    const { canonical, lastEpoch } = this.#oracle.memory(state.memory);
    const open = canonical.find((each) => each.needsCommit && each.epoch > lastEpoch);
    demand(open === undefined, `I12: sources begin before epoch ${open?.epoch} is committed`);
    const host = this.#host(state.world, generation, index);
    if (host.phase !== 'ready') {
      demand(host.phase === 'running' || host.phase === 'stopped', 'I12: a host begins unprepared');
      return;
    }
    const tip = canonical.at(-1);
    const body = tip === undefined ? undefined : objects.get(tip.checkpoint.ref);
    if (body === undefined) return;
    const manifest = checkpointManifestCodec.decode(this.#buckets.body(body));
    if (manifest.tag === 'broken') return;
    const known = new Map(
      manifest.value.broadcast.flatMap((entry) => entry.value as [number, number][]),
    );
    for (const [partition, offset] of host.offsets)
      demand(
        (known.get(partition) ?? 0) === offset,
        `I6: partition ${partition} begins at ${offset}, the tip says ${known.get(partition)}`,
      );
  }

  /** A clean end is one: everything up to its epoch is committed, and the whole input if it says finished. */
  #watchOutcome(state: State, slot: number, outcome: Outcome): void {
    this.outcomes.add(outcome.tag === 'failed' ? `failed ${outcome.report.code}` : outcome.tag);
    if (outcome.tag === 'failed') {
      const { code } = outcome.report;
      demand(
        code !== 'LINEAGE_BROKEN' && code !== 'INTERNAL',
        `${code}: ${outcome.report.message}`,
      );
    }
    if (outcome.tag !== 'stopped' && outcome.tag !== 'finished') return;
    const { canonical, lastEpoch, targets } = this.#oracle.memory(state.memory);
    if (outcome.tag === 'stopped' && this.#leader(state.world, slot).stop?.mode === 'immediate')
      return;
    const open = canonical.find(
      (each) => each.needsCommit && each.epoch > lastEpoch && each.epoch <= outcome.epoch,
    );
    demand(open === undefined, `I4: ${outcome.tag} before epoch ${open?.epoch} is committed`);
    demand(outcome.epoch <= canonical.length, `I4: ${outcome.tag} at epoch ${outcome.epoch}`);
    if (outcome.tag === 'finished')
      for (const { sink, rows } of targets)
        demand(
          rows.every((count) => count === this.#options.rows),
          `I5: finished, but sink ${sink} holds ${rows.join(' and ')} rows`,
        );
  }

  /** L1: nothing moves any more but for new faults; then the newest generation has ended, for a reason. */
  #watchEnd(state: State): void {
    const { world } = state;
    const { phase, activity, outcome, stop } = this.#leader(world, this.#newest(world));
    demand(phase === 'ended', `L1: nothing moves, though the leader is ${phase} ${activity.tag}`);
    demand(outcome?.tag !== 'fenced', 'L1: the newest generation is fenced');
    demand(outcome?.tag !== 'stopped' || stop !== null, 'L1: stopped, though nobody asked for it');
    const { faults } = this.#options;
    const costly = (faults.hostLosses ?? 0) + (faults.silences ?? 0) + (faults.expiries ?? 0) > 0;
    demand(outcome?.tag !== 'failed' || costly, `L1: the newest generation fails`);
    const last = world.hosts.at(-1) ?? [];
    demand(
      outcome?.tag !== 'finished' ||
        last.every((host) => host.phase === 'empty' || drained(host, this.#options.rows)),
      'L1: finished before the input has ended',
    );
  }
}

function spend(state: State, fault: keyof Faults): State {
  const { left } = state.world;
  return { ...state, world: { ...state.world, left: { ...left, [fault]: left[fault] - 1 } } };
}
