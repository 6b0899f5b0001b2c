import { readFileSync, readlinkSync } from 'node:fs'

/** Where the number of a process means something. All is '' where the system does not tell. */
export type Place = {
  readonly machine: string
  /** Differs after a restart of the machine. */
  readonly boot: string
  /** Numbers of processes are counted anew in every namespace. */
  readonly namespace: string
}

let known: Place | undefined

/** Where this process runs. */
export function ourPlace(): Place {
  return (known ??= {
    machine: tell('/proc/sys/kernel/hostname'),
    boot: tell('/proc/sys/kernel/random/boot_id'),
    namespace: tellLink('/proc/self/ns/pid'),
  })
}

/** Whether a process of another place can be looked at from here: `gone` with an earlier start of the machine, `elsewhere` on another one or in another container. */
export function distanceTo({ machine, boot, namespace }: Place): 'here' | 'gone' | 'elsewhere' {
  const here = ourPlace()
  if (machine !== here.machine) return 'elsewhere'
  if (boot !== here.boot) return 'gone'
  return namespace === here.namespace ? 'here' : 'elsewhere'
}

function tell(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim()
  } catch {
    return ''
  }
}

function tellLink(link: string): string {
  try {
    return readlinkSync(link)
  } catch {
    return ''
  }
}
