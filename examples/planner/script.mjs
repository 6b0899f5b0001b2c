// What a model would say, so that the example needs none. A function looks at what the tools
// answered before.
const plan = (/** @type {object} */ input) => ({ name: 'planning_update_step', arguments: input })
const read = (/** @type {string} */ page) => ({ name: 'read_page', arguments: { page } })
const write = (/** @type {string} */ page, /** @type {string} */ text) => ({
  name: 'write_page',
  arguments: { page, text },
})

/** @type {Parameters<typeof import('toolable/testing').scriptedModel>[0]} */
export const script = [
  {
    calls: [
      {
        name: 'planning_setup_plan',
        arguments: {
          objective: 'No page says TODO',
          initial_steps: ['Look at the pages', 'Write the guide', 'Look at all of it once more'],
        },
      },
    ],
  },
  { calls: [plan({ step_id: 1, status: 'in_progress' }), read('guide'), read('faq')] },
  // Another page says TODO too: the plan grows.
  ({ messages }) => ({
    calls: [
      plan({ step_id: 1, status: 'done' }),
      ...(messages.at(-1)?.text.includes('TODO')
        ? [{ name: 'planning_add_step', arguments: { steps: ['Write the FAQ'] } }]
        : []),
    ],
  }),
  {
    calls: [
      plan({ step_id: 2, status: 'in_progress' }),
      write('guide', 'Write a function, describe its input, run it.'),
      plan({ step_id: 2, status: 'done' }),
    ],
  },
  {
    calls: [
      plan({ step_id: 4, status: 'in_progress' }),
      write('faq', 'Is it fast? Yes.'),
      plan({ step_id: 4, status: 'done' }),
    ],
  },
  { calls: [read('guide'), read('faq'), plan({ step_id: 3, status: 'done' })] },
  'The manual is finished.',
]
