#!/usr/bin/env node
// A program with something to test: it asks, it plans, it tells how far it is.
// region program
import { tool, toolset } from 'toolable'
import { z } from 'zod'

export const tidy = tool({
  name: 'tidy',
  summary: 'Throw away what nobody wants',
  input: z.object({ things: z.array(z.string()).min(1).describe('What lies around') }),
  output: z.object({ thrown: z.array(z.string()) }),
  positional: ['things'],
  dryRun: true,
  async run({ things }, ctx) {
    const thrown = []
    for (const thing of things) {
      ctx.plan('throw', thing)
      if (ctx.dryRun || !(await ctx.ask({ kind: 'confirm', prompt: `Throw away the ${thing}?` })))
        continue
      ctx.progress(`the ${thing} is gone`)
      thrown.push(thing)
    }
    return { thrown }
  },
})
export const program = toolset({ name: 'tidy', version: '1.0.0', tools: [tidy] })
// endregion
await program.run(import.meta)
