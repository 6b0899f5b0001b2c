import type { InteractionOption } from '../../../contract/interaction.ts'
import { isObject } from '../../../contract/json.ts'

/** The choices of a decision, as texts or objects; what is neither is left out. */
export function readOptions(options: unknown): readonly InteractionOption[] {
  if (!Array.isArray(options)) return []
  return options.flatMap((option: unknown) => {
    if (typeof option === 'string') return [{ value: option }]
    if (!isObject(option) || typeof option['value'] !== 'string') return []
    const { value, label, description } = option
    return [
      {
        value,
        ...(typeof label === 'string' && { label }),
        ...(typeof description === 'string' && { description }),
      },
    ]
  })
}
