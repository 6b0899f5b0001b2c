// Tools that are worth looking at: one is quick, one takes its time, one asks.
import { setTimeout as pause } from 'node:timers/promises'
import { ToolError, tool } from 'toolable'

const STAGES = ['read the pages', 'render them', 'shrink the pictures', 'check the links']

export const countWords = tool({
  name: 'count_words',
  summary: 'Count the words of a text',
  input: /** @type {import('toolable').TypedJsonSchema<{ text: string }>} */ ({
    type: 'object',
    properties: { text: { type: 'string', description: 'Any text', examples: ['a few words'] } },
    required: ['text'],
    additionalProperties: false,
  }),
  annotations: { readOnly: true },
  examples: [{ description: 'Three of them', input: { text: 'a few words' } }],
  run: ({ text }) => ({
    words: text.split(/\s+/).filter((word) => word !== '').length,
    characters: text.length,
  }),
})

export const buildSite = tool({
  name: 'build_site',
  summary: 'Build a site, stage by stage',
  description: 'Takes as long as it is told, and says how far it is.',
  input:
    /** @type {import('toolable').TypedJsonSchema<{ pages?: number, seconds?: number, broken?: boolean }>} */ ({
      type: 'object',
      properties: {
        pages: {
          type: 'integer',
          minimum: 1,
          maximum: 1000,
          default: 24,
          description: 'How many pages there are',
        },
        seconds: {
          type: 'number',
          minimum: 0,
          maximum: 600,
          default: 8,
          description: 'How long it takes',
        },
        broken: {
          type: 'boolean',
          default: false,
          description: 'A link leads nowhere, and the build fails',
        },
      },
      additionalProperties: false,
    }),
  async run({ pages = 24, seconds = 8, broken = false }, ctx) {
    const steps = STAGES.length * pages
    for (const [index, stage] of STAGES.entries()) {
      ctx.log(`${stage}: ${pages} of them`)
      for (let page = 1; page <= pages; page += 1) {
        await pause((seconds * 1000) / steps, undefined, { signal: ctx.signal })
        ctx.progress(
          `${stage}: page ${page} of ${pages}`,
          Math.round(((index * pages + page) / steps) * 1000) / 10,
        )
        if (broken && index === 3 && page > pages / 2)
          throw new ToolError('PRECONDITION', `page ${page} links to /nowhere`, {
            suggestion: 'Write that page, or take the link out',
          })
      }
    }
    return { pages, stages: STAGES.length }
  },
})

export const sendNewsletter = tool({
  name: 'send_newsletter',
  summary: 'Send the newsletter, after somebody has agreed',
  input: /** @type {import('toolable').TypedJsonSchema<{ readers?: number }>} */ ({
    type: 'object',
    properties: {
      readers: {
        type: 'integer',
        minimum: 1,
        default: 1200,
        description: 'How many people get it',
      },
    },
    additionalProperties: false,
  }),
  async run({ readers = 1200 }, ctx) {
    const when = await ctx.ask({
      kind: 'decision',
      key: 'when',
      prompt: `${readers} people will get it. When?`,
      options: [
        { value: 'now', description: 'At once' },
        { value: 'tomorrow', description: 'Tomorrow at eight' },
        { value: 'never', description: 'Not at all' },
      ],
    })
    return { readers: when === 'never' ? 0 : readers, when }
  },
})
