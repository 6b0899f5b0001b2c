// Ours: functions as tools of a registry, called by the steps of a workflow; everything on record,
// on the disk.
import { join } from 'node:path'
import { registry, tool, workflow, workflows } from 'toolable'
import { z } from 'zod'

const add = tool({
  name: 'add',
  summary: 'Add numbers',
  input: z.strictObject({ a: z.number(), b: z.number() }),
  run: ({ a, b }) => a + b,
})

/** Three steps, each of which takes what the one before gave. */
export const threeSteps = workflow({ name: 'three-steps' }, (w) => {
  const one = w.tool('one', add, { a: w.input.n, b: 1 })
  const two = w.tool('two', add, { a: one.result, b: 1 })
  return w.tool('three', add, { a: two.result, b: 1 }).result
})

export async function embedded(folder) {
  const tools = await registry({ tools: [add], cwd: folder, cache: false })
  const host = await workflows({ registry: tools, folder: join(folder, '.runs'), cwd: folder })
  return {
    host,
    async execute(n) {
      const { done } = await host.start(threeSteps, { n })
      const { state, result } = await done
      if (state !== 'completed' || result !== n + 3)
        throw new Error(`a workflow ended as ${state} with ${result}`)
    },
    async close() {
      await host.close()
      await tools.close()
    },
  }
}
