// The workflow of workflows/publish.yaml in code: both are the same data.
// region build
import { workflow } from 'toolable'
import * as tools from './tools.mjs'

export const publish = workflow(
  {
    name: 'publish',
    summary: 'Check pages, and put them out',
    input: /** @type {import('toolable').TypedJsonSchema<{ from: string, to: string }>} */ ({
      type: 'object',
      properties: { from: { type: 'string' }, to: { type: 'string', default: 'site' } },
      required: ['from'],
      additionalProperties: false,
    }),
  },
  (w) => {
    const pages = w.tool('pages', tools.listPages, { folder: w.input.from })
    const check = w.each(
      'check',
      pages.result,
      (page, inner) => inner.tool('words', tools.checkPage, { path: page.path }),
      { as: 'page' },
    )
    const approve = w.decision('approve', {
      decisionType: 'approve_pages',
      instruction: `Publish the pages of ${w.input.from}?`,
      options: ['publish', 'leave'],
    })
    const when = w.equals(approve.result, 'publish')
    w.tool(
      'copy',
      tools.copyPages,
      { from: w.input.from, to: w.input.to },
      {
        when,
        compensate: (undo) => undo.tool('take_back', tools.removePages, { folder: w.input.to }),
      },
    )
    const index = w.tool(
      'index',
      tools.writeIndex,
      { folder: w.input.to, pages: check.result },
      { when },
    )
    return { approved: approve.result, pages: check.result, index: index.result }
  },
)
// endregion
