import { shortHash } from '../../../contract/short-hash.ts'
import { host } from '../../host.ts'
import { ourPlace } from '../../place.ts'

/** This process in one word: where its number means something, the number, and when it began. */
export function ourselves(): string {
  return (own ??= `${place()}-${host.pid}-${host.startOf(host.pid) ?? '0'}`)
}

/** Whether the process that a word names is gone. One on another machine or in another container cannot be seen: it counts as gone after so long a silence. */
export function isGone(word: string, silence: number, longestSilence: number): boolean {
  const [machine, boot, space, pid, start] = word.split('-')
  const [ourMachine, ourBoot, ourSpace] = place().split('-')
  if (machine !== ourMachine || !pid || !/^[1-9]\d*$/.test(pid)) return silence > longestSilence
  if (boot !== ourBoot) return true
  if (space !== ourSpace) return silence > longestSilence
  return !host.isAlive(Number(pid), start === '0' ? undefined : start)
}

let own: string | undefined
let ourWord: string | undefined

function place(): string {
  if (ourWord === undefined) {
    const { machine, boot, namespace } = ourPlace()
    ourWord = [machine, boot, namespace].map(shortHash).join('-')
  }
  return ourWord
}
