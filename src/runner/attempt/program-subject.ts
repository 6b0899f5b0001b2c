import type { JsonObject } from '../../contract/json.ts'
import type { ChildOptions } from '../../process/child-type.ts'
import { openChild } from '../../process/open-child.ts'
import { readToolOutput } from '../output/read-tool-output.ts'
import type { StderrLog } from '../output/stderr-log.ts'
import type { Subject, SubjectListener } from './subject.ts'

/** So much of what a plain program prints is kept to read its answer from. */
const MOST_KEPT = 4 * 1024 * 1024

export type ProgramOptions = {
  readonly runId: string
  /** Everything about the process: command, environment, sandbox, limits. */
  readonly child: Pick<ChildOptions, 'command' | 'cwd' | 'env' | 'sandbox' | 'limits' | 'input' | 'onStart'>
  /** It may tell about tasks of its own. */
  readonly mayOrchestrate: boolean
  /** Its manifest says that it speaks the protocol. */
  readonly speaksProtocol: boolean
  /** Bytes of a line, and of everything on stdout. */
  readonly maxLine: number
  readonly maxOutput: number
  readonly stderr: StderrLog
}

/** Starts a program and reads what it says. */
export async function startProgram(options: ProgramOptions, listener: SubjectListener): Promise<Subject> {
  const { runId, child: given, mayOrchestrate, maxLine, maxOutput, stderr } = options
  const kept: Buffer[] = []
  let keptBytes = 0
  const reader = readToolOutput({
    runId, mayOrchestrate, maxLine, maxBytes: maxOutput,
    onEvent: listener.onLine,
    onDiagnostic: listener.onDoubt,
    onLimit: () => listener.onFlood(maxOutput),
    ...(!options.speaksProtocol && { onPlain: listener.onPlain }),
  })
  const child = await openChild({
    ...given,
    onOutput(chunk) {
      if (!reader.speaksProtocol && keptBytes < MOST_KEPT) {
        kept.push(chunk)
        keptBytes += chunk.length
      }
      reader.push(chunk)
      return listener.room()
    },
    onErrorOutput(chunk) {
      stderr.push(chunk)
      return listener.room()
    },
  })
  if (given.input !== undefined) child.closeInput()
  const end = child.end.then(async (ended) => {
    reader.finish()
    await stderr.finish()
    const speaksProtocol = options.speaksProtocol || reader.speaksProtocol
    return { child: ended, speaksProtocol, stdout: speaksProtocol ? Buffer.alloc(0) : Buffer.concat(kept), stderr: stderr.tail() }
  })
  return {
    pid: child.pid,
    answer: (line: JsonObject) => void child.write(JSON.stringify(line)),
    hangUp: () => child.closeInput(),
    stop: (grace) => child.kill(grace),
    end,
  }
}
