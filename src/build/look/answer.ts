import type { ToolsetManifest } from '../../contract/manifest.ts'
import type { Prepared } from '../../contract/prepared.ts'
import type { Script } from '../launch/wrap.ts'

/** What a program prints for some questions: the number of arguments, a space, and the arguments; `agent ` stands before what only agents are told so. */
export type Answer = { readonly questions: readonly string[]; readonly text: string }

/** What a build finds out about a program by looking at it. */
export type Look = {
  readonly name: string
  readonly version: string
  readonly answers: readonly Answer[]
  readonly manifest: ToolsetManifest
  /** It answers calls by JSON lines when it is started with --serve. */
  readonly serves: boolean
  /** Schemas of zod by how they are made. */
  readonly schemas: readonly { readonly fingerprint: string; readonly prepared: Prepared }[]
  /** Loading the program asked zod for more than schemas: records are of no use to it. */
  readonly needsZod: boolean
}

/** Why there is nothing to look at: what the program threw while it was loaded. */
export type LookProblem = {
  readonly problem: {
    readonly code: string
    readonly message: string
    readonly stack?: string
    readonly suggestion?: unknown
  }
}

/** What is looked at: the script of a program, and the files that they will be. V8 keeps the name of the script in what it compiles. */
export type Subject = { readonly program: string; readonly bundle: string; readonly script: Script }

/** The same as a process is given it: the script is in a file. */
export type SubjectFile = Pick<Subject, 'program' | 'bundle'> & {
  readonly script: string
  readonly length: number
}
