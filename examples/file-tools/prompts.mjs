import { prompt } from 'toolable'

// region review
export const review = prompt({
  name: 'review',
  summary: 'Ask for a review of a file',
  arguments: { path: 'File to review', focus: 'What to look at most' },
  render: ({ path, focus }) => [
    {
      role: 'system',
      content: 'You review files. Say what is wrong, where, and what to write instead.',
    },
    {
      role: 'user',
      content: `Read ${path} with read_file, then review it. Look most at: ${focus}.`,
    },
  ],
})
// endregion
