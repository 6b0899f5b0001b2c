#!/usr/bin/env node
// A model with tools. Offline: node agent.mjs; with a model of OpenAI: MODEL=gpt-5
// OPENAI_API_KEY=... node agent.mjs
// region agent
import { agent, openaiModel } from 'toolable'
import { program } from './notes.mjs'
import script from './script.mjs'

const { MODEL } = process.env
const secretary = agent({
  model: MODEL ? openaiModel({ model: MODEL }) : script,
  tools: program,
  system: 'You look after the notes of the user.',
  maxTurns: 10,
  budget: { totalTokens: 50_000, time: '2m' },
  approve: ({ tool }) => tool !== 'delete_note',
})

for await (const event of secretary.stream('What do I have to buy? And delete the ideas.')) {
  if (event.type === 'text') process.stdout.write(event.delta)
  if (event.type === 'tool_call')
    console.log(`\n  calls ${event.name} ${JSON.stringify(event.input)}`)
  if (event.type === 'approval' && event.approved !== undefined)
    console.log(`  ${event.prompt} ${event.approved ? 'Yes.' : 'No.'}`)
  if (event.type === 'tool_result')
    console.log(
      `  ${event.ok ? 'gets' : 'fails:'} ${event.outcome.ok ? event.text : event.outcome.error.message}`,
    )
  if (event.type === 'end')
    console.log(`\n${event.result.status} after ${event.result.turns} turns`)
}
// endregion
