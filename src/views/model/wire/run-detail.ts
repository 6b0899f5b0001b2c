import type { JsonObject, JsonSchema } from '../../../contract/json.ts'
import type { RunModel } from '../run-model/run-model-type.ts'
import type { GraphSource } from './workflows.ts'
import type { RunRow } from './run-row.ts'

/** What a run was asked to do, with nothing secret in it. */
export type ShownRequest = {
  readonly tool: string
  readonly version?: string
  readonly args: readonly string[]
  readonly input?: JsonObject
  readonly input_schema?: JsonSchema
  readonly cwd: string
  /** The program and its fixed words; absent for what is no program. */
  readonly command?: readonly string[]
  readonly form?: string
  readonly timeout_s?: number
  readonly heartbeat_grace_s?: number
  readonly retries?: number
  readonly allow_level?: string
  readonly permissions?: unknown
  readonly manifest?: string
  /** Names only. */
  readonly secrets: readonly string[]
  readonly answers: readonly string[]
  readonly trace_id?: string
  readonly idempotency_key?: string
  readonly orchestrator?: true
}

/** A file that a run has left. */
export type ShownArtifact = {
  /** Its place in the list, by which it is asked for. */
  readonly index: number
  readonly name: string
  readonly path?: string
  readonly uri?: string
  readonly bytes?: number
  readonly sha256?: string
  readonly type?: string
  readonly attempt?: number
  /** Whether it is kept, so that it can be had. */
  readonly kept: boolean
}

/** What comes of hashing an artifact again. */
export type Verdict = {
  readonly state: 'same' | 'changed' | 'gone' | 'unknown'
  readonly sha256?: string
}

/** One run, whole but for its events. */
export type RunDetail = {
  readonly row: RunRow
  readonly request: ShownRequest
  /** What its events come to, up to `model.seq`; whoever gets the following ones goes on from there. */
  readonly model: RunModel
  /** The command that would start it again. */
  readonly command: string
  /** The command with which it goes on, where there is one. */
  readonly go_on?: string
  readonly folder?: string
  readonly artifacts: readonly ShownArtifact[]
  readonly children: readonly RunRow[]
  readonly workflow?: GraphSource & { readonly name: string; readonly file?: string }
  /** What can be done with it now. */
  readonly can: {
    readonly cancel: boolean
    readonly resume: boolean
    readonly retry: boolean
    readonly answer: boolean
  }
}

/** Some events of a run, in their order. */
export type EventPage = {
  readonly events: readonly JsonObject[]
  /** Events of the run that fit the filter, as far as it is read. */
  readonly matching: number
  readonly total: number
  /** The seq from which the next page would go on; absent at the end. */
  readonly next?: number
}

/** Some lines of a log file of the run. */
export type LogPage = {
  readonly lines: readonly string[]
  /** The number of the first line, from 1. */ readonly first: number
  readonly total: number
  /** Bytes of the file that are not shown because there are too many. */ readonly cut?: number
}
