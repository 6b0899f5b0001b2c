// `node host.mjs` in a folder with pages: a program that calls the workflow like any other tool.
// region host
import { registry } from 'toolable'
import { publish } from './publish.mjs'
import * as tools from './tools.mjs'

const reg = await registry({ tools: Object.values(tools), workflows: [publish] })
const outcome = await reg.call(
  'publish',
  { from: 'pages' },
  {
    answer: ({ prompt, options }) => (console.log(prompt), options?.[0]?.value),
    onEvent: (event) => {
      if (event.type === 'progress') console.log(event.message)
    },
  },
)
console.log(
  outcome.ok ? /** @type {{ index: object }} */ (outcome.result).index : outcome.error.message,
  outcome.meta.run_id,
)
await reg.close()
// endregion
