import { signal } from '@preact/signals'

const narrowQuery = matchMedia('(max-width: 860px)')

/** Whether the window is too narrow for tables. */
export const isNarrow = signal(narrowQuery.matches)

narrowQuery.addEventListener('change', () => (isNarrow.value = narrowQuery.matches))

const wideQuery = matchMedia('(min-width: 1000px)')

/** Whether there is room for things side by side. */
export const isWide = signal(wideQuery.matches)

wideQuery.addEventListener('change', () => (isWide.value = wideQuery.matches))
