// Stands for a model: it says what a model would say, and looks at what its tools answered.

/** @returns {import('toolable').Model} */
export function scriptedModel() {
  let turn = 0
  const call = (/** @type {string} */ name, /** @type {object} */ input) => ({ id: `call_${turn}_${name}_${JSON.stringify(input).length}`, name, arguments: JSON.stringify(input) })
  const replies = [
    () => [call('planning_setup_plan', { objective: 'No page says TODO', initial_steps: ['Look at the pages', 'Write the guide', 'Look at all of it once more'] })],
    () => [call('planning_update_step', { step_id: 1, status: 'in_progress' }), call('read_page', { page: 'guide' }), call('read_page', { page: 'faq' })],
    // The second page says TODO too: the plan grows.
    (/** @type {string} */ heard) => [call('planning_update_step', { step_id: 1, status: 'done' }), ...(heard.includes('TODO') ? [call('planning_add_step', { steps: ['Write the FAQ'] })] : [])],
    () => [call('planning_update_step', { step_id: 2, status: 'in_progress' }), call('write_page', { page: 'guide', text: 'Write a function, describe its input, run it.' })],
    () => [call('planning_update_step', { step_id: 2, status: 'done' }), call('planning_update_step', { step_id: 4, status: 'in_progress' }), call('write_page', { page: 'faq', text: 'Is it fast? Yes.' })],
    () => [call('planning_update_step', { step_id: 4, status: 'done' }), call('planning_read_plan', {}), call('read_page', { page: 'guide' })],
    (/** @type {string} */ heard) => (heard.includes('TODO') ? [] : [call('planning_update_step', { step_id: 3, status: 'done' })]),
    () => [],
  ]
  return {
    name: 'scripted',
    async generate({ messages }) {
      const last = messages.at(-1)
      const calls = replies[turn++]?.(last?.role === 'tool' ? last.text : '') ?? []
      return { text: calls.length === 0 ? 'The manual is finished.' : '', calls }
    },
  }
}
