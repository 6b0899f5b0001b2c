/**
 * Types of what an attempt supervises (a program, a registry call, a workflow), of why it is
 * stopped, and of the host around a run.
 */

import type { ChildEnd, EgressConnection } from '../process/child.ts'
import type { ToolError } from '../protocol/tool-error.ts'
import type { Registry } from '../registry/types.ts'
import type { JsonObject } from '../util/values.ts'
import type { AnswerChannel, RunQuestion } from './questions.ts'
import type { ToolLine } from './tool-output.ts'

/** Something on stdout or stderr that is no line of the protocol, or may not be one. */
type TargetDiagnostic = {
  readonly stream: 'stdout' | 'stderr'
  readonly reason: string
  readonly [field: string]: unknown
}

/** What a subject tells its attempt. A promise holds the subject back. */
export type RunTargetListener = {
  /** `text` is the line as it was written, where nothing was changed in it. */
  onLine(line: ToolLine, text?: string): void
  /** What a program told beside the protocol. */
  onNotification(line: ToolLine): void
  onDoubt(doubt: TargetDiagnostic): void
  /** A line of a program that does not speak the protocol. */
  onPlain(line: string): void
  /** It talked to a server, or wanted to. */
  onConnection(connection: EgressConnection): void
  /** It wrote more than it may. */
  onOutputLimit(bytes: number): void
  /** A question of our own, ready to be asked, with what stands around it. */
  onQuestion(question: RunQuestion, context?: JsonObject): void
  /** A question was withdrawn. */
  onWithdrawn(question: string): void
  /** How long the log needs to follow; awaited after each piece of output. */
  waitForDrain(): Promise<void> | undefined
}

/** How a subject ended, and what it left for whoever concludes. */
export type RunTargetEnd = {
  readonly child: Pick<ChildEnd, 'reason' | 'status' | 'signal' | 'problem' | 'limit'>
  /**
   * True where it is known that the tool speaks the protocol: from its manifest, or from its lines.
   */
  readonly speaksProtocol: boolean
  /** The end of what a plain program wrote, for its answer. */
  readonly stdout: Buffer
  readonly stderr: string
}

/** What an attempt supervises: a program, a call of the registry, or a workflow. */
export type RunTarget = {
  /** The process, where there is one: whoever finds the run after a crash ends it by this. */
  readonly pid: number | undefined
  /** Sends an answer. */
  answer(line: JsonObject): void
  /** There will be no more answers. */
  closeInput(): void
  /**
   * The question was not answered; `late`: it timed out. Without this function the input is closed
   * and the run fails.
   */
  readonly onUnanswered?: (question: string, error: ToolError, late: boolean) => void
  /** Asks it to end, and ends it, with all that descends from it, after so many milliseconds. */
  stop(grace: number, why: StopReason): void
  /** It is our own, and what it says of its end counts also after it was asked to end. */
  readonly isTrusted?: true
  readonly end: Promise<RunTargetEnd>
}

/** Starts a subject for one attempt. */
export type StartRunTarget = (listener: RunTargetListener) => Promise<RunTarget>

/** Why the runner ended a subject itself. */
export type StopReason =
  | { readonly kind: 'deadline' | 'heartbeat'; readonly seconds: number }
  | { readonly kind: 'cancelled'; readonly reason: string }
  | { readonly kind: 'output'; readonly bytes: number }
  | { readonly kind: 'failure'; readonly error: ToolError }

/** What stands around a run: who answers, who listens, who may end it. */
export type RunHost = {
  readonly env: { readonly [name: string]: string | undefined }
  /** For tools that are no programs. */
  readonly registry?: Pick<Registry, 'call'>
  /** What is run where it is neither a program nor a tool of the registry: a workflow. */
  readonly start?: StartRunTarget
  /** What `runner_start` says besides. */
  readonly about?: JsonObject
  /** Who may answer, besides what the request itself brings. */
  readonly channels: readonly AnswerChannel[]
  /** Gets whole lines of the log as soon as they are safe. A promise holds the tool back. */
  readonly onWritten?: (lines: string) => void | Promise<void>
  /** Cancels the run. */
  readonly signal: AbortSignal
  /** Secrets that were given by stdin: they are in no file. */
  readonly secrets?: { readonly [name: string]: string }
  /** Who asked for this attempt, where it is not the first. */
  readonly resumedBy?: 'resume'
}
