import type { PromptManifest, ResourceManifest } from '../../contract/manifest.ts'
import type { ChildCall } from '../child/child-call.ts'
import type { ForeignFacts } from '../found.ts'
import type { ProgramForm } from '../help/program-form.ts'
import type { Environment } from '../../process/base-environment.ts'

/** A file that may be a tool. */
export type Candidate = {
  /** Absolute. */
  readonly path: string
  /** How it is started: an interpreter and the path, or the path alone. */
  readonly command: readonly [program: string, ...args: string[]]
  /** Scripts are asked for Simple JSON first, executables for `--discover`; both are asked everything. */
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
  readonly env: Environment
  readonly signal?: AbortSignal
  /** Understands the text that `--help` brought. */
  readonly readHelp?: (
    text: string,
    name: string,
  ) => { readonly facts: ForeignFacts; readonly program: ProgramForm } | undefined
}

/** What a candidate answered to, the richest first. */
export type AnsweredForm = 'discover' | 'multi-schema' | 'schema' | 'simple' | 'help'

/** Why a candidate is not a tool. */
export type RefusalReason =
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

export type ProbedTool = {
  readonly name: string
  readonly facts: ForeignFacts
  readonly call: ChildCall
}

/** Something about a tool that should be better. */
export type ProbeWarning = {
  readonly reason: 'slow' | 'no-schema' | 'too-many'
  readonly message: string
  readonly fix: string
}

/** What became of a candidate. Plain data: the cache keeps it where `isLasting` says so. */
export type Verdict =
  | {
      readonly kind: 'tools'
      readonly form: AnsweredForm
      /** What the program calls itself. */
      readonly program?: string
      readonly version?: string
      readonly tools: readonly ProbedTool[]
      readonly resources: readonly ResourceManifest[]
      readonly prompts: readonly PromptManifest[]
      readonly warnings: readonly ProbeWarning[]
    }
  | Refusal

export type Refusal = {
  readonly kind: 'not-a-tool'
  readonly reason: RefusalReason
  readonly message: string
  readonly fix: string
}

/** Whether a verdict is about the file, so that it holds until the file changes; otherwise it is about the machine or the moment. */
export function isLasting(verdict: Verdict): boolean {
  return (
    verdict.kind === 'tools' || (verdict.reason !== 'no-sandbox' && verdict.reason !== 'cancelled')
  )
}
