import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import type { Cleaned } from './clean.ts'

/** What was removed, for a person. */
export const renderCleaned: RenderResult = (result) => {
  if ('plan' in (result as object)) {
    const { plan } = result as { readonly plan: readonly { readonly target: string }[] }
    return plan.length === 0
      ? 'nothing to remove\n'
      : plan.map(({ target }) => `would remove ${target}\n`).join('')
  }
  const { removed, left } = result as Cleaned
  return `${removed.length} ${removed.length === 1 ? 'run' : 'runs'} removed, ${left} left\n`
}
