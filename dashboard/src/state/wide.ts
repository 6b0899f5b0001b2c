import { signal } from '@preact/signals'

const query = matchMedia('(min-width: 1000px)')

/** Whether there is room for things side by side. */
export const isWide = signal(query.matches)

query.addEventListener('change', () => (isWide.value = query.matches))
