/** The promises of section 9 of the specification about workflows in a program of one's own. */
export const WORKFLOW_HOST: { readonly [name: string]: string } = {
  'host-light':
    'workflows() executes what only calls tools of this process without a folder for each; what cannot work is told before it begins.',
  'host-run':
    'workflows() makes a run of what asks, waits or starts programs; the first answer wins.',
  'host-resume':
    'An id that was started already is joined, and what a host left goes on when it is opened again.',
  'host-cancel': 'Cancelling takes back what was done.',
}
