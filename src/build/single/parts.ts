import { answer } from '../launch/answer.ts'
import { AGENTS } from '../launch/program-text.ts'
import { launchSingle } from './launch-single.ts'
import type { SingleParts } from './make-executable.ts'

/** What a program consists of that becomes one executable. */
export type SingleProgram = {
  /** The file of the program, from which questions are answered. */
  readonly answers: string
  /** Its bundle, of which `length` bytes are loaded at once, and what V8 has compiled of that. */
  readonly bundle: string
  readonly length: number
  readonly code: Uint8Array | undefined
}

/** The script that such an executable starts, and what it reads. */
export function singleParts({ answers, bundle, length, code }: SingleProgram): SingleParts {
  return {
    main: `(${launchSingle.toString()})(${length},${code !== undefined},${AGENTS},${answer.toString()})\n`,
    assets: {
      answers: Buffer.from(answers, 'latin1'),
      bundle: Buffer.from(bundle, 'latin1'),
      ...(code && { code }),
    },
  }
}
