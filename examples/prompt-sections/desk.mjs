// A help desk: a prompt whose sections bring their tools, and a skill that opens when the model
// wants it. The model is a list of calls, so it runs offline.
import { fileURLToPath } from 'node:url'
// region prompt
import {
  createState,
  guards,
  section,
  sections,
  skillSection,
  slice,
  ToolError,
  tool,
} from 'toolable'
import { z } from 'zod'

const refunds = slice('refunds')

const findOrder = tool({
  name: 'find_order',
  summary: 'Find an order by its number',
  annotations: { readOnly: true },
  input: z.object({ number: z.string() }),
  run: ({ number }) => ({ number, days: 12, price: 40 }),
})
const refund = tool({
  name: 'refund',
  summary: 'Pay an order back',
  input: z.object({ number: z.string(), amount: z.number().positive() }),
  run(input, ctx) {
    ctx.state.get(refunds).append(input)
    return `Paid back ${input.amount}.`
  },
})

const prompt = sections({
  name: 'help-desk',
  params: z.object({ shop: z.string() }),
  sections: [
    section({
      key: 'task',
      title: 'Task',
      params: z.object({ customer: z.object({ name: z.string() }) }),
      body: `
        You answer for {{shop}}. The customer is {{customer.name}}.
      `,
    }),
    section({ key: 'orders', title: 'Orders', body: 'Never guess a number.', tools: [findOrder] }),
    await skillSection(fileURLToPath(new URL('skills/refunds', import.meta.url)), {
      tools: [refund],
    }),
  ],
  guards: [guards.sequence({ refund: ['find_order'] })],
})
// endregion

// region loop
const state = createState()
const params = { shop: 'Lamps & Co', customer: { name: 'Ada' } }
let rendered = await prompt.render(params, { state })
show(rendered)

for (const [name, input] of whatTheModelWants()) {
  try {
    const outcome = await rendered.evaluate(name, input)
    console.log(
      `${name}:`,
      outcome.ok
        ? (outcome.message ?? outcome.result)
        : `${outcome.error.code} ${outcome.error.message}`,
    )
  } catch (error) {
    if (!ToolError.is(error) || error.code !== 'E_VISIBILITY_EXPANSION') throw error
    console.log(`${name}: opened`, prompt.open(error, state))
    rendered = await prompt.render(params, { state })
    show(rendered)
  }
}
console.log('refunds:', state.get(refunds).all())
// endregion

/** @param {{ text: string, tools: readonly { name: string }[] }} rendered */
function show({ text, tools }) {
  console.log(`${text}\n\nTools: ${tools.map(({ name }) => name).join(', ')}\n`)
}

/** @returns {[string, object][]} */
function whatTheModelWants() {
  return [
    ['open_sections', { section_keys: ['refunds'], reason: 'Ada wants her money back' }],
    ['refund', { number: 'A-17', amount: 40 }],
    ['find_order', { number: 'A-17' }],
    ['read_skill_file', { skill: 'refunds', path: 'references/table.md' }],
    ['refund', { number: 'A-17', amount: 40 }],
    ['refnd', {}],
  ]
}
