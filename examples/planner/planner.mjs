// A model that plans and works through its plan, offline: the model is a script, everything else is
// real.
import { scriptedModel } from 'toolable/testing'
import { script } from './script.mjs'
// region planner
import { agent, createState, planning, planSlice, section, sections, tool } from 'toolable'

const pages = { intro: 'Toolable makes a function a tool.', guide: 'TODO', faq: 'TODO' }

const readPage = tool({
  name: 'read_page',
  summary: 'Read a page',
  input: {
    type: 'object',
    properties: { page: { type: 'string', enum: Object.keys(pages) } },
    required: ['page'],
  },
  annotations: { readOnly: true },
  run: ({ page }) => pages[`${page}`],
})
const writePage = tool({
  name: 'write_page',
  summary: 'Write a page anew',
  input: {
    type: 'object',
    properties: { page: { type: 'string', enum: Object.keys(pages) }, text: { type: 'string' } },
    required: ['page', 'text'],
  },
  run: ({ page, text }) => {
    pages[`${page}`] = `${text}`
  },
})

const prompt = sections({
  name: 'editor',
  sections: [
    planning({ strategy: 'PLAN_ACT_REFLECT' }),
    section({
      key: 'pages',
      title: 'Pages',
      body: 'You look after the pages of a manual. No page may say TODO.',
      tools: [readPage, writePage],
    }),
  ],
})

const state = createState()
const editor = agent({ model: scriptedModel(script), prompt, state })
for await (const event of editor.stream('Finish the manual')) {
  if (event.type === 'tool_progress' && event.event.type === 'progress')
    console.log(event.event.message)
  if (event.type === 'tool_call' && !event.name.startsWith('planning_'))
    console.log(`  ${event.name} ${JSON.stringify(event.input)}`)
  if (event.type === 'end') console.log(event.result.text)
}

const plan = state.get(planSlice).latest()
for (const { step_id, title, status } of plan?.steps ?? [])
  console.log(`${step_id} ${title}: ${status}`)
console.log(plan?.status)
// endregion
