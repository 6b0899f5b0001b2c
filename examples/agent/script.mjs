import { scriptedModel } from 'toolable/testing'

// What a model might do, so that the example needs no network: two calls at once (one of them
// wrong), then one that has to be approved, then the answer.
export default scriptedModel([
  {
    text: 'Let me look.',
    calls: [{ name: 'list_notes' }, { name: 'read_note', arguments: { name: 'shoping' } }],
  },
  { text: 'I mistyped it.', calls: [{ name: 'read_note', arguments: '{"name": "shopping"}' }] },
  { calls: [{ name: 'delete_note', arguments: { name: 'ideas' } }] },
  'You need milk and bread. I did not delete your ideas, because you said no.',
])
