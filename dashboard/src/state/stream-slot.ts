// A browser opens six connections to a server, whatever the number of its tabs, and a stream holds
// one for ever: with one for each tab, the seventh would never load.
const SLOTS = ['toolable-stream-1', 'toolable-stream-2', 'toolable-stream-3']

let held = false
let change: () => void = () => undefined

/**
 * Whether this tab may keep a stream open. The others take short looks; the one that somebody turns
 * to takes the place of another.
 */
export function hasSlot(): boolean {
  return held
}

/**
 * Tries to get a place for this tab, and each time that somebody turns to it; calls the function
 * when that changes.
 */
export function seekSlot(onChange: () => void): void {
  change = onChange
  document.addEventListener(
    'visibilitychange',
    () => void (document.visibilityState === 'visible' && seek(true)),
  )
  void seek(document.visibilityState === 'visible')
}

async function seek(mayTake: boolean): Promise<void> {
  for (const name of SLOTS) if (!held) await hold(name, { ifAvailable: true })
  if (!held && mayTake)
    await hold(SLOTS[Math.floor(Math.random() * SLOTS.length)]!, { steal: true })
}

// Resolves when it is known whether the place is ours; the place is kept until the tab is closed or
// another takes it.
function hold(name: string, options: LockOptions): Promise<void> {
  return new Promise((known) => {
    const set = (now: boolean): void => {
      known()
      if (held === now) return
      held = now
      change()
    }
    void navigator.locks
      .request(name, options, (lock) => {
        if (!lock) return known()
        set(true)
        return new Promise(() => undefined)
      })
      .then(undefined, () => set(false))
  })
}
