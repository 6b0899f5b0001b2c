/**
 * Asks one question, with a bounded number of programs at a time, and the types of candidates and verdicts.
 */

import { availableParallelism } from 'node:os'
import type { ChildEnd } from '../../process/child.ts'
import { PROBE_HOME } from '../../process/child.ts'
import type { HostEnv } from '../../process/environment.ts'
import { buildProbeEnv } from '../../process/environment.ts'
import { getCpuTimeMs } from '../../process/process-table.ts'
import { runChild } from '../../process/run.ts'
import type { PromptManifest, ResourceManifest } from '../../protocol/manifest.ts'
import { compact } from '../../util/values.ts'
import type { ChildCall, ProgramForm } from '../child/child-call.ts'
import type { ForeignMetadata } from '../source.ts'

const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const MAX_STDERR_BYTES = 64 * 1024
/** Milliseconds of processor time within WANTED below which a child only waits for something. */
const IDLE_CPU_MS = 30

/** Where and how a candidate is asked. */
export type ProbeTarget = {
  readonly candidate: ProbeCandidate
  readonly options: ProbeOptions
  readonly gate: ProbeGate
  /** Its command, the interpreter without detours. */
  readonly command: ProbeCandidate['command']
  /** What it may read in the sandbox; undefined: there is no sandbox. */
  readonly readable: readonly string[] | undefined
  /** An empty folder of the host, for where there is no sandbox. */
  readonly folder: string | undefined
}

/**
 * Asks one question. A child that works through all its time without an answer may only have had
 * bad company, and is asked once more, alone.
 */
export async function askProbeQuestion(
  booth: ProbeTarget,
  question: ProbeQuestion,
): Promise<ChildEnd> {
  const first = await runProbe(booth, question, await booth.gate.enter())
  if (first.end.reason !== 'timeout' || first.isIdle) return first.end
  return (await runProbe(booth, question, await booth.gate.enterAlone())).end
}

/** Milliseconds that the answer takes when nobody else is running. */
export async function measureAlone(booth: ProbeTarget, question: ProbeQuestion): Promise<number> {
  return (await runProbe(booth, question, await booth.gate.enterAlone())).end.duration
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
  try {
    const end = await runChild(
      compact({
        command: [...command, ...question.args],
        cwd: readable ? '/' : folder,
        env: buildProbeEnv(options.env, folder),
        timeout: question.timeoutMs,
        maxStdout: MAX_ANSWER_BYTES,
        maxStderr: MAX_STDERR_BYTES,
        onStart,
        signal: options.signal,
        sandbox: readable
          ? ({
              writable: 'private-tmp',
              network: 'none',
              readable: [candidate.path, ...readable],
            } as const)
          : undefined,
      }),
    )
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
  /**
   * Scripts are asked for Simple JSON first, executables for `--discover`; both are asked
   * everything.
   */
  readonly kind: 'script' | 'executable'
  /** What a tool is called that does not say its name; default: the file without its ending. */
  readonly name?: string
  /** Ask `--help` too when nothing else is answered. Default false. */
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
  /** Understands the text that `--help` brought. */
  readonly readHelp?: (
    text: string,
    name: string,
  ) => { readonly facts: ForeignMetadata; readonly program: ProgramForm } | undefined
}

/** What a candidate answered to, the richest first. */
export type ProbeForm = 'discover' | 'multi-schema' | 'schema' | 'simple' | 'help'

/** Why a candidate is not a tool. */
export type ProbeRefusalReason =
  | 'slow'
  | 'crashed'
  | 'not-json'
  | 'two-documents'
  | 'no-answer'
  | 'refused'
  | 'too-much-output'
  | 'needs-permission'
  | 'wants-input'
  | 'not-started'
  | 'no-sandbox'
  | 'cancelled'

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

/** What became of a candidate. Plain data: the cache keeps it where `isLasting` says so. */
export type ProbeVerdict =
  | {
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
  | ProbeRefusal

export type ProbeRefusal = {
  readonly kind: 'not-a-tool'
  readonly reason: ProbeRefusalReason
  readonly message: string
  readonly fix: string
}

/**
 * Whether a verdict is about the file, so that it holds until the file changes; otherwise it is
 * about the machine or the moment.
 */
export function isLastingVerdict(verdict: ProbeVerdict): boolean {
  return (
    verdict.kind === 'tools' || (verdict.reason !== 'no-sandbox' && verdict.reason !== 'cancelled')
  )
}

/** Milliseconds in which an answer is wanted; what comes later counts, with a warning. */
export const WANTED_ANSWER_MS = 200

/** One question to a candidate. */
export type ProbeQuestion = {
  readonly about: 'simple' | 'multi-schema' | 'schema' | 'discover' | 'manifest' | 'help'
  readonly args: readonly string[]
  /** Milliseconds. */ readonly timeoutMs: number
}

// Byte for byte: tools compare the argument as text.
export const SIMPLE_QUESTION: ProbeQuestion = {
  about: 'simple',
  args: ['{"__test__": true}'],
  timeoutMs: 2000,
}
export const MULTI_SCHEMA_QUESTION: ProbeQuestion = {
  about: 'multi-schema',
  args: ['--fractalic-dump-multi-schema'],
  timeoutMs: 2000,
}
export const SCHEMA_QUESTION: ProbeQuestion = {
  about: 'schema',
  args: ['--fractalic-dump-schema'],
  timeoutMs: 2000,
}
export const DISCOVER_QUESTION: ProbeQuestion = {
  about: 'discover',
  args: ['--discover'],
  timeoutMs: 5000,
}
export const HELP_QUESTION: ProbeQuestion = { about: 'help', args: ['--help'], timeoutMs: 2000 }

/** Asks for the schemas of all tools of a program at once, or of one tool. */
export const toManifestQuestion = (...tool: readonly string[]): ProbeQuestion => ({
  about: 'manifest',
  args: [...tool, '--manifest'],
  timeoutMs: 5000,
})

/** A place among those that may use a core. */
type ProbeSlot = {
  /**
   * Gives the core to somebody else while this one only waits. False when too many wait already.
   */
  stepAside(): boolean
  leave(): void
}

/** Lets a bounded number in at once, and some alone, when nobody else is inside or waiting. */
type ProbeGate = { enter(): Promise<ProbeSlot>; enterAlone(): Promise<ProbeSlot> }

const MAX_WAITING = 32

/** A gate for that many cores. */
export function createProbeGate(limit: number): ProbeGate {
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
    async enter() {
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
    async enterAlone() {
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

const gatesByLimit = new Map<number, ProbeGate>()

/**
 * The gate of this process for that many cores, or all: folders that are looked at together share
 * it.
 */
export function getSharedGate(limit = availableParallelism()): ProbeGate {
  const gate = gatesByLimit.get(limit) ?? createProbeGate(Math.max(1, limit))
  gatesByLimit.set(limit, gate)
  return gate
}
