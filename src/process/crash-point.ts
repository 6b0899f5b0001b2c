import { ownPid, sendSignal, wantedCrash } from './host.ts'

/** A place where a test may have this process killed. */
export type CrashPoint =
  | 'journal.append'
  | 'journal.written'
  | 'journal.synced'
  | 'step.performed'
  | 'execution.ended'
  | (string & {})

const [place, count = '1'] = wantedCrash?.split('#') ?? []
let left = Number(count)

/** Dies as by `kill -9` when `TOOLABLE_CRASH_AT` names this place, or `place#3` the third time that it is reached. Does nothing otherwise. */
export function crashPoint(name: CrashPoint): void {
  if (place === undefined || place !== name) return
  left -= 1
  if (left <= 0) sendSignal(ownPid(), 'SIGKILL')
}
