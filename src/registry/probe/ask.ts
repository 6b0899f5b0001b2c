import { probeEnvironment } from '../../process/base-environment.ts'
import type { ChildEnd } from '../../process/child-type.ts'
import { usedTime } from '../../process/process-table.ts'
import { runChild } from '../../process/run-child.ts'
import { PRIVATE_FOLDER } from '../../process/sandbox/profile.ts'
import type { Gate, Slot } from './gate.ts'
import type { Question } from './questions.ts'
import { WANTED } from './questions.ts'
import type { Candidate, ProbeOptions } from './verdict.ts'

const LARGEST_ANSWER = 4 * 1024 * 1024
const LARGEST_COMPLAINT = 64 * 1024
/** Milliseconds of processor time within WANTED below which a child only waits for something. */
const IDLE = 30

/** Where and how a candidate is asked. */
export type Booth = {
  readonly candidate: Candidate
  readonly options: ProbeOptions
  readonly gate: Gate
  /** Its command, the interpreter without detours. */
  readonly command: Candidate['command']
  /** What it may read in the sandbox; undefined: there is no sandbox. */
  readonly readable: readonly string[] | undefined
  /** An empty folder of the host, for where there is no sandbox. */
  readonly folder: string | undefined
}

/** Asks one question. A child that works through all its time without an answer may only have had bad company, and is asked once more, alone. */
export async function ask(booth: Booth, question: Question): Promise<ChildEnd> {
  const first = await run(booth, question, await booth.gate.enter())
  if (first.end.reason !== 'timeout' || first.isIdle) return first.end
  return (await run(booth, question, await booth.gate.enterAlone())).end
}

/** Milliseconds that the answer takes when nobody else is running. */
export async function timeAlone(booth: Booth, question: Question): Promise<number> {
  return (await run(booth, question, await booth.gate.enterAlone())).end.duration
}

async function run(
  { candidate, options, command, readable, folder = PRIVATE_FOLDER }: Booth,
  question: Question,
  slot: Slot,
): Promise<{ readonly end: ChildEnd; readonly isIdle: boolean }> {
  let isIdle = false
  let watch: NodeJS.Timeout | undefined
  const onStart = (pid: number): void => {
    let before = 0
    watch = setInterval(() => {
      const used = usedTime(pid)
      isIdle = used !== undefined && used - before < IDLE
      before = used ?? 0
      if (isIdle && slot.stepAside()) clearInterval(watch)
    }, WANTED)
  }
  try {
    const end = await runChild({
      command: [...command, ...question.args],
      cwd: readable ? '/' : folder,
      env: probeEnvironment(options.env, folder),
      timeout: question.patience,
      maxStdout: LARGEST_ANSWER,
      maxStderr: LARGEST_COMPLAINT,
      onStart,
      ...(options.signal && { signal: options.signal }),
      ...(readable && {
        sandbox: {
          writable: 'private-tmp',
          network: 'none',
          readable: [candidate.path, ...readable],
        },
      }),
    })
    return { end, isIdle }
  } finally {
    clearInterval(watch)
    slot.leave()
  }
}
