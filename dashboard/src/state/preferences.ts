import { signal } from '@preact/signals'

/** Whether times are shown in UTC instead of the zone of the browser. */
export const utc = signal(recall('utc') === 'yes')

/** Changes between UTC and the zone of the browser, for this page and the next ones. */
export function toggleUtc(): void {
  utc.value = !utc.peek()
  keep('utc', utc.peek() ? 'yes' : 'no')
}

/** Something that this browser remembers; undefined where it does not, or may not. */
export function recall(name: string): string | undefined {
  try {
    return localStorage.getItem(`toolable.${name}`) ?? undefined
  } catch {
    return undefined
  }
}

/** Has this browser remember something, where it may. */
export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`toolable.${name}`, value)
  } catch {
    // Without storage a preference lasts as long as the page.
  }
}
