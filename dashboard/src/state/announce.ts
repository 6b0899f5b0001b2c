import { signal } from '@preact/signals'

/** What screen readers announce next. */
export const announcement = signal('')

/** Tells something to people who cannot see it change. */
export function announce(text: string): void {
  // A live region speaks only when its text changes.
  announcement.value = announcement.peek() === text ? `${text}\u00a0` : text
}
