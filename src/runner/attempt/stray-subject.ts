import { hearStray } from '../../call/stray-words.ts'
import type { Redactor } from '../../process/redaction/create-redactor.ts'
import { openStderrLog } from '../output/stderr-log.ts'
import type { StderrLog } from '../output/stderr-log.ts'
import { tellOfStderr } from './program-subject.ts'
import type { StartSubject, SubjectListener } from './subject.ts'

const MOST_STDERR = 64 * 1024 * 1024

/** Starts a subject that works in this process: what it and its libraries write to the streams of the process goes where the stderr of a program goes. */
export function withStray(start: StartSubject, path: string, redactor: Redactor): StartSubject {
  return async (listener) => {
    const stray = openStray(path, redactor, listener)
    const subject = await hearStray(stray.hear, () => start(listener))
    return { ...subject, end: subject.end.finally(stray.finish) }
  }
}

// Most write nothing: the file is opened for the first word.
function openStray(
  path: string,
  redactor: Redactor,
  listener: SubjectListener,
): { hear(bytes: Uint8Array): boolean; finish(): Promise<void> } {
  let opening: Promise<StderrLog | undefined> | undefined
  let over = false
  return {
    hear(bytes) {
      if (over) return false
      opening ??= openStderrLog(path, MOST_STDERR, redactor, {
        onDiagnostic: listener.onDoubt,
      }).catch((error: Error) => {
        listener.onDoubt({
          stream: 'stderr',
          reason: 'not_kept',
          msg: `what was printed could not be written down: ${error.message}`,
        })
        return undefined
      })
      const kept = Buffer.from(bytes)
      void opening.then((log) => log?.push(kept))
      return true
    },
    async finish() {
      over = true
      const log = await opening
      if (!log) return
      await log.finish()
      tellOfStderr(log, listener)
    },
  }
}
