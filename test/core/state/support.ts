import { tool } from 'toolable'
import type { Context } from 'toolable'

/** A tool that does with its context whatever a test wants. */
export function doing(run: (ctx: Context) => unknown, more: object = {}) {
  return tool({
    name: 'does',
    summary: 'Does something',
    ...more,
    run: (_input: unknown, ctx: Context) => run(ctx),
  } as never)
}

/** A promise that the test settles. */
export function gate(): { readonly passed: Promise<void>; open(): void } {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}

/** Lets everything happen that waits for nothing. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Something that can only be changed in its place. */
export function counter(faults: { snapshot?(): void; restore?(): void } = {}) {
  return {
    count: 0,
    snapshot() {
      faults.snapshot?.()
      return this.count
    },
    restore(count: number) {
      faults.restore?.()
      this.count = count
    },
  }
}
