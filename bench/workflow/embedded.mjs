// Ours: a function as a tool of a registry, called by each step; everything on record, on the disk.
import { join } from 'node:path'
import { registry, tool } from 'toolable'
import { z } from 'zod'
import { createPerformTool } from '../../src/workflow/steps/perform-tool.ts'
import { openEmbedded } from '../../src/workflow/engines/embedded/light/open-embedded.ts'

/** Three steps, the second and third of which take what the first gave. */
export const definition = {
  name: 'three-steps',
  steps: [
    { type: 'tool', name: 'one', tool: 'add', input: { a: '${{ input.n }}', b: 1 } },
    { type: 'tool', name: 'two', tool: 'add', input: { a: '${{ steps.one.result }}', b: 1 } },
    { type: 'tool', name: 'three', tool: 'add', input: { a: '${{ steps.two.result }}', b: 1 } },
  ],
}

export async function embedded(folder) {
  const add = tool({ name: 'add', summary: 'Add numbers', input: z.strictObject({ a: z.number(), b: z.number() }), run: ({ a, b }) => a + b })
  const tools = await registry({ tools: [add], cwd: folder, cache: false })
  const runsFolder = join(folder, '.runs')
  const perform = createPerformTool({ registry: tools, runsFolder, cwd: folder, env: process.env, remembers: false })
  const engine = await openEmbedded({ folder: runsFolder, perform })
  return {
    async execute(n) {
      const { done } = await engine.start(definition, { n })
      const { state, result } = await done
      if (state !== 'completed' || result !== n + 3) throw new Error(`a workflow ended as ${state} with ${result}`)
    },
    async close() {
      await engine.close()
      await tools.close()
    },
  }
}
