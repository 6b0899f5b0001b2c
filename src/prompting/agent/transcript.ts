import { appendFileSync, closeSync, fstatSync, mkdirSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { ToolError } from '../../contract/tool-error.ts'
import { toToolError } from '../../call/failure.ts'

/** The record of a run: one JSON object a line. */
export type Transcript = {
  /** Written at once, so that a crash loses nothing. */
  write(line: { readonly type: string; readonly [field: string]: unknown }): void
  /** Why the record is not whole. */
  readonly problem: ToolError | undefined
  close(): void
}

/** Opens a record for its owner only; what stands in it already stays. */
export function openTranscript(path: string): Transcript {
  const fail = (error: unknown): ToolError => {
    const { code, message } = toToolError(error)
    return new ToolError(code, `the transcript ${path} cannot be written: ${message}`, {
      cause: error,
    })
  }
  let problem: ToolError | undefined
  let file: number | undefined
  try {
    makeFolder(dirname(path))
    file = openSync(path, 'a+', 0o600)
    // A line that was torn by a crash must not swallow the next one.
    if (!endsWithLine(file)) appendFileSync(file, '\n')
  } catch (error) {
    problem = fail(error)
  }
  return {
    write(line) {
      if (file === undefined || problem) return
      try {
        appendFileSync(file, `${JSON.stringify({ ts: new Date().toISOString(), ...line })}\n`)
      } catch (error) {
        problem = fail(error)
      }
    },
    get problem() {
      return problem
    },
    close() {
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

// Not recursive: node looks for ever for a place in folders where nothing can be made, such as /proc.
function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function endsWithLine(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(file, last, 0, 1, size - 1), last.toString() === '\n')
}
