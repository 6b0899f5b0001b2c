import { signal } from '@preact/signals'

const query = matchMedia('(max-width: 860px)')

/** Whether the window is too narrow for tables. */
export const isNarrow = signal(query.matches)

query.addEventListener('change', () => (isNarrow.value = query.matches))
