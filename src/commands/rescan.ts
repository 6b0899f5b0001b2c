import { tool } from '../call/tool.ts'
import type { ToolableCommand } from './command.ts'
import { inputWith } from './common-flags.ts'
import type { Surroundings } from './config/load.ts'
import { withRegistry } from './with-registry.ts'

/** `toolable rescan`: look again. */
export const rescanCommand: ToolableCommand = {
  path: ['rescan'],
  tool: tool({
    name: 'rescan',
    summary: 'Look again at everything that may hold tools',
    description:
      'What changed is asked again by itself at every start; --fresh asks everything, also what the cache knows.',
    input: inputWith({ fresh: { type: 'boolean', description: 'Ask also what has not changed' } }),
    annotations: { idempotent: true },
    examples: [{ description: 'After an interpreter or a library was changed', args: ['--fresh'] }],
    run: async (input, ctx) => {
      const { fresh = false, ...surroundings } = input as Surroundings & {
        readonly fresh?: boolean
      }
      return withRegistry(surroundings, ctx, async (registry) => {
        await registry.rescan({ fresh })
        return {
          sources: registry.sources(),
          tools: registry.list().length,
          problems: registry.problems().length,
        }
      })
    },
  }),
}
