import { acor } from '../../contract/dialects/acor.ts'
import type { ToolEvent } from '../../contract/events.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ChildOptions } from '../../process/child-type.ts'
import { openChild } from '../../process/open-child.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'
import type { ToolLine } from '../output/judge-line.ts'
import { readToolOutput } from '../output/read-tool-output.ts'
import { openStderrLog } from '../output/stderr-log.ts'
import type { StderrLog } from '../output/stderr-log.ts'
import type { Subject, SubjectListener } from './subject.ts'

/** So much of what a plain program prints is kept to read its answer from. */
const MOST_KEPT = 4 * 1024 * 1024
const MOST_STDERR = 64 * 1024 * 1024

export type ProgramOptions = {
  readonly runId: string
  /** Everything about the process: command, environment, sandbox, limits. */
  readonly child: Pick<
    ChildOptions,
    'command' | 'cwd' | 'env' | 'sandbox' | 'limits' | 'input' | 'onStart'
  >
  /** Its manifest says that it speaks the protocol. */
  readonly speaksProtocol: boolean
  /** It may tell about tasks of its own. */
  readonly mayOrchestrate: boolean
  /** Bytes of a line, and of everything on stdout. */
  readonly maxLine: number
  readonly maxOutput: number
  /** The file that takes what it says on stderr. */
  readonly stderr: string
  readonly redactor: Redactor
}

/** Starts a program and reads what it says. */
export async function startProgram(
  options: ProgramOptions,
  listener: SubjectListener,
): Promise<Subject> {
  const { runId, child: given, speaksProtocol, maxLine, maxOutput, redactor } = options
  const kept: Buffer[] = []
  let keptBytes = 0
  const stderr = await openStderrLog(options.stderr, MOST_STDERR, redactor, {
    onDiagnostic: listener.onDoubt,
    onEvent: (event) => listener.onTold(lineOf(event)),
  })
  const reader = readToolOutput({
    runId,
    mayOrchestrate: options.mayOrchestrate,
    maxLine,
    maxBytes: maxOutput,
    redactor,
    onEvent: listener.onLine,
    onDiagnostic: listener.onDoubt,
    onLimit: listener.onFlood,
    ...(!speaksProtocol && { onPlain: listener.onPlain }),
  })
  const child = await openChild({
    ...given,
    stdoutVariable: 'RUN_STDOUT',
    onOutput(chunk) {
      if (!speaksProtocol && !reader.speaksProtocol && keptBytes < MOST_KEPT) {
        kept.push(chunk)
        keptBytes += chunk.length
      }
      reader.push(chunk)
      return listener.room()
    },
    onErrorOutput: (chunk) => bothOf(stderr.push(chunk), listener.room()),
  })
  if (given.input !== undefined) child.closeInput()
  const end = child.end.then(async (ended) => {
    reader.finish()
    await stderr.finish()
    tellOfStderr(stderr, listener)
    const speaks = speaksProtocol || reader.speaksProtocol
    return {
      child: ended,
      speaksProtocol: speaks,
      stdout: speaks ? Buffer.alloc(0) : Buffer.concat(kept),
      stderr: stderr.tail(),
    }
  })
  return {
    pid: child.pid,
    answer: (line: JsonObject) => void child.write(JSON.stringify(line)),
    hangUp: () => child.closeInput(),
    stop: (grace) => child.kill(grace),
    end,
  }
}

/** Says what is missing in the log of stderr, when it is closed. */
export function tellOfStderr(
  { problem, dropped }: Pick<StderrLog, 'problem' | 'dropped'>,
  listener: Pick<SubjectListener, 'onDoubt'>,
): void {
  if (problem)
    listener.onDoubt({
      stream: 'stderr',
      reason: 'not_kept',
      msg: `stderr could not be written down: ${problem.message}`,
    })
  if (dropped > 0)
    listener.onDoubt({
      stream: 'stderr',
      reason: 'too_much',
      msg: `${dropped} bytes of stderr were not kept`,
      bytes: dropped,
    })
}

// What tools of other specifications tell on stderr, as the line that ours would write.
function lineOf(event: ToolEvent): ToolLine {
  const line = acor.event(event, { tool: '', runId: '', now: () => '' }) as ToolLine & {
    readonly [field: string]: unknown
  }
  const { v: _v, ts: _ts, run_id: _id, ...said } = line
  return said
}

function bothOf(one: void | Promise<void>, other: void | Promise<void>): void | Promise<void> {
  return one && other ? Promise.all([one, other]).then(() => undefined) : (one ?? other)
}
