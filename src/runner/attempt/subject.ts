import type { JsonObject } from '../../contract/json.ts'
import type { ChildEnd } from '../../process/child-type.ts'
import type { Connection } from '../../process/sandbox/profile.ts'
import type { ToolError } from '../../contract/tool-error.ts'
import type { Question } from '../interactions/read-question.ts'
import type { ToolLine } from '../output/judge-line.ts'
import type { Intervention } from './ending/intervention.ts'

/** Something on stdout or stderr that is no line of the protocol, or may not be one. */
export type Doubt = {
  readonly stream: 'stdout' | 'stderr'
  readonly reason: string
  readonly [field: string]: unknown
}

/** What a subject tells its attempt. A promise holds the subject back. */
export type SubjectListener = {
  /** `text` is the line as it was written, where nothing was changed in it. */
  onLine(line: ToolLine, text?: string): void
  /** What a program told beside the protocol. */
  onTold(line: ToolLine): void
  onDoubt(doubt: Doubt): void
  /** A line of a program that does not speak the protocol. */
  onPlain(line: string): void
  /** It talked to a server, or wanted to. */
  onConnection(connection: Connection): void
  /** It wrote more than it may. */
  onFlood(bytes: number): void
  /** A question of our own, ready to be asked, with what stands around it. */
  onQuestion(question: Question, context?: JsonObject): void
  /** A question is not asked any more: nobody waits for its answer. */
  onWithdrawn(question: string): void
  /** How long the log needs to follow; awaited after each piece of output. */
  room(): Promise<void> | undefined
}

/** How a subject ended, and what it left for whoever concludes. */
export type SubjectEnd = {
  readonly child: Pick<ChildEnd, 'reason' | 'status' | 'signal' | 'problem' | 'limit'>
  /** True where it is known that the tool speaks the protocol: from its manifest, or from its lines. */
  readonly speaksProtocol: boolean
  /** The end of what a plain program wrote, for its answer. */
  readonly stdout: Buffer
  readonly stderr: string
}

/** What an attempt supervises: a program, a call of the registry, or a workflow. */
export type Subject = {
  /** The process, where there is one: whoever finds the run after a crash ends it by this. */
  readonly pid: number | undefined
  /** Sends an answer. */
  answer(line: JsonObject): void
  /** Nobody will answer any more. */
  hangUp(): void
  /** Nobody answers this question; `late`: not in its time. Where it is absent, the subject is hung up on and its run has failed. */
  readonly declined?: (question: string, error: ToolError, late: boolean) => void
  /** Asks it to end, and ends it, with all that descends from it, after so many milliseconds. */
  stop(grace: number, why: Intervention): void
  /** It is our own, and what it says of its end counts also after it was asked to end. */
  readonly trusted?: true
  readonly end: Promise<SubjectEnd>
}

/** Starts a subject for one attempt. */
export type StartSubject = (listener: SubjectListener) => Promise<Subject>
