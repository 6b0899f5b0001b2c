import { signal } from '@preact/signals'

/** What a screen reader is told next, politely. */
export const announcement = signal('')

/** Tells something to people who cannot see it change. */
export function announce(text: string): void {
  // The same text twice would be told once: a region speaks when it changes.
  announcement.value = announcement.peek() === text ? `${text}\u00a0` : text
}
