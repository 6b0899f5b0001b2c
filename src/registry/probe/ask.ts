/**
 * Asks one question, with a bounded number of programs at a time, and the types of candidates and verdicts.
 */

import { availableParallelism } from 'node:os'
import type { ChildEnd, ProbeProfile } from '../../process/child.ts'
import { PROBE_HOME } from '../../process/child.ts'
import type { HostEnv } from '../../process/environment.ts'
import { buildProbeEnv } from '../../process/environment.ts'
import { getCpuTimeMs } from '../../process/process-table.ts'
import { runChild } from '../../process/run.ts'
import type { PromptManifest, ResourceManifest } from '../../protocol/manifest.ts'
import { KIBIBYTE, MEBIBYTE } from '../../util/units.ts'
import { compact } from '../../util/values.ts'
import type { ChildCall, ProgramForm } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'

const MAX_ANSWER_BYTES = 4 * MEBIBYTE
const MAX_STDERR_BYTES = 64 * KIBIBYTE
/** Milliseconds of processor time per WANTED_ANSWER_MS below which a child is only waiting. */
const IDLE_CPU_MS = 30

/** Where and how a candidate is asked. */
export type ProbeTarget = {
  readonly candidate: ProbeCandidate
  readonly options: ProbeOptions
  readonly gate: ReturnType<typeof createProbeGate>
  /** Its command, with the real interpreter. */
  readonly command: ProbeCandidate['command']
  /** What it may read in the sandbox; undefined: there is no sandbox. */
  readonly readable: readonly string[] | undefined
  /** An empty folder of the host, for a machine without sandbox. */
  readonly folder?: string
}

/**
 * Asks one question. A child that works until its time is over without an answer may have been
 * slowed down by others, so it is asked once more, alone.
 */
export async function askProbeQuestion(
  target: ProbeTarget,
  question: ProbeQuestion,
): Promise<ChildEnd> {
  const first = await runProbe(target, question, await target.gate.enter())
  if (first.end.reason !== 'timeout' || first.isIdle) return first.end
  return (await runProbe(target, question, await target.gate.enterAlone())).end
}

/** Milliseconds until the answer when no other program is running. */
export async function measureAlone(target: ProbeTarget, question: ProbeQuestion): Promise<number> {
  return (await runProbe(target, question, await target.gate.enterAlone())).end.duration
}

async function runProbe(
  { candidate, options, command, readable, folder = PROBE_HOME }: ProbeTarget,
  question: ProbeQuestion,
  slot: ProbeSlot,
): Promise<{ readonly end: ChildEnd; readonly isIdle: boolean }> {
  let isIdle = false
  let watch: NodeJS.Timeout | undefined
  const onStart = (pid: number): void => {
    let before = 0
    watch = setInterval(() => {
      const used = getCpuTimeMs(pid)
      isIdle = used !== undefined && used - before < IDLE_CPU_MS
      before = used ?? 0
      if (isIdle && slot.stepAside()) clearInterval(watch)
    }, WANTED_ANSWER_MS)
  }
  const sandbox: ProbeProfile | undefined = readable && {
    writable: 'private-tmp',
    network: 'none',
    readable: [candidate.path, ...readable],
  }
  try {
    const end = await runChild({
      command: [...command, ...question.args],
      cwd: sandbox ? '/' : folder,
      env: buildProbeEnv(options.env, folder),
      timeout: question.timeoutMs,
      maxStdout: MAX_ANSWER_BYTES,
      maxStderr: MAX_STDERR_BYTES,
      onStart,
      ...compact({ signal: options.signal, sandbox }),
    })
    return { end, isIdle }
  } finally {
    clearInterval(watch)
    slot.leave()
  }
}

/** A file that may be a tool. */
export type ProbeCandidate = {
  /** Absolute. */
  readonly path: string
  /** How it is started: an interpreter and the path, or the path alone. */
  readonly command: readonly [program: string, ...args: string[]]
  /** Scripts are asked for Simple JSON first, executables for `--discover`. */
  readonly kind: 'script' | 'executable'
  /** The name of a tool that has none; default: the file without its extension. */
  readonly name?: string
  /** Ask `--help` too when it answers nothing else. Default false. */
  readonly help?: boolean
  /** What it may read besides its project, where homes are hidden. */
  readonly readable?: readonly string[]
}

/** What the probing of candidates needs to know. */
export type ProbeOptions = {
  /** Probing without a sandbox, on a machine that has none. */
  readonly unsandboxed: boolean
  /** Children at the same time; default: one for each core. */
  readonly concurrency?: number
  /** The environment of the host; children get very little of it. */
  readonly env: HostEnv
  readonly signal?: AbortSignal
  /** Reads the output of `--help`. */
  readonly readHelp?: (
    text: string,
    name: string,
  ) => { readonly facts: ForeignMetadata; readonly program: ProgramForm } | undefined
}

/** What a candidate answered to, the richest first. */
export type ProbeForm = 'discover' | 'multi-schema' | 'schema' | 'simple' | 'help'

/** Why a candidate is not a tool, the most telling reason first. */
export const REFUSAL_REASONS = [
  'cancelled',
  'no-sandbox',
  'not-started',
  'crashed',
  'needs-permission',
  'wants-input',
  'too-much-output',
  'slow',
  'two-documents',
  'not-json',
  'refused',
  'no-answer',
] as const
export type ProbeRefusalReason = (typeof REFUSAL_REASONS)[number]

/** A tool of another process: its metadata, and how it is called. The cache keeps it. */
export type ProgramTool = {
  readonly name: string
  readonly facts: ForeignMetadata
  readonly call: ChildCall
}

/** Something about a tool that should be better. */
export type ProbeWarning = {
  readonly reason: 'slow' | 'no-schema' | 'too-many'
  readonly message: string
  readonly fix: string
}

/** The result for a candidate. Plain data: the cache keeps it where `isLastingVerdict` says so. */
export type ProbeVerdict = ProbedProgram | ProbeRefusal

export type ProbedProgram = {
  readonly kind: 'tools'
  readonly form: ProbeForm
  /** What the program calls itself. */
  readonly program?: string
  readonly version?: string
  readonly tools: readonly ProgramTool[]
  readonly resources: readonly ResourceManifest[]
  readonly prompts: readonly PromptManifest[]
  readonly warnings: readonly ProbeWarning[]
}

export type ProbeRefusal = {
  readonly kind: 'not-a-tool'
  readonly reason: ProbeRefusalReason
  readonly message: string
  readonly fix: string
}

/** True for a verdict that holds until the file changes, false for one about the machine. */
export function isLastingVerdict(verdict: ProbeVerdict): boolean {
  if (verdict.kind === 'tools') return true
  return verdict.reason !== 'no-sandbox' && verdict.reason !== 'cancelled'
}

/** Milliseconds for an answer; later ones count too, with a warning. */
export const WANTED_ANSWER_MS = 200

/** One question to a candidate. */
export type ProbeQuestion = { readonly args: readonly string[]; readonly timeoutMs: number }

// Byte for byte: tools compare the argument as text.
export const SIMPLE_QUESTION: ProbeQuestion = { args: ['{"__test__": true}'], timeoutMs: 2000 }
export const MULTI_SCHEMA_QUESTION: ProbeQuestion = {
  args: ['--fractalic-dump-multi-schema'],
  timeoutMs: 2000,
}
export const SCHEMA_QUESTION: ProbeQuestion = { args: ['--fractalic-dump-schema'], timeoutMs: 2000 }
export const DISCOVER_QUESTION: ProbeQuestion = { args: ['--discover'], timeoutMs: 5000 }
export const HELP_QUESTION: ProbeQuestion = { args: ['--help'], timeoutMs: 2000 }

/** A place among the programs that may use a core. */
type ProbeSlot = {
  /** Frees the core while this program only waits. False when too many wait already. */
  stepAside(): boolean
  leave(): void
}

const MAX_WAITING = 32

/**
 * Admits as many programs at the same time as there are cores, and some alone, when no other is
 * inside or waiting.
 */
export function createProbeGate(limit: number) {
  const queue: (() => void)[] = []
  const loners: (() => void)[] = []
  let inside = 0
  let aside = 0
  let isTaken = false

  const admit = (): void => {
    while (!isTaken && inside < limit && queue.length > 0) {
      inside += 1
      queue.shift()!()
    }
    if (isTaken || inside > 0 || loners.length === 0) return
    isTaken = true
    loners.shift()!()
  }
  const enter = (line: (() => void)[]): Promise<void> =>
    new Promise((resolve) => {
      line.push(resolve)
      admit()
    })
  return {
    async enter(): Promise<ProbeSlot> {
      await enter(queue)
      let place: 'inside' | 'aside' | 'left' = 'inside'
      return {
        stepAside() {
          if (place !== 'inside' || aside >= MAX_WAITING) return false
          place = 'aside'
          aside += 1
          inside -= 1
          admit()
          return true
        },
        leave() {
          if (place === 'aside') aside -= 1
          else if (place === 'inside') inside -= 1
          place = 'left'
          admit()
        },
      }
    },
    async enterAlone(): Promise<ProbeSlot> {
      await enter(loners)
      return {
        stepAside: () => false,
        leave() {
          isTaken = false
          admit()
        },
      }
    },
  }
}

const gatesByLimit = new Map<number, ProbeTarget['gate']>()

/** The gate of this process: folders that are scanned at the same time share the cores. */
export function getSharedGate(limit = availableParallelism()): ProbeTarget['gate'] {
  const gate = gatesByLimit.get(limit) ?? createProbeGate(Math.max(1, limit))
  gatesByLimit.set(limit, gate)
  return gate
}
