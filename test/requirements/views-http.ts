/** The promises of section 10 of the specification about the door of the dashboard. */
export const VIEWS_HTTP: { readonly [name: string]: string } = {
  'ui-command':
    'toolable ui serves the dashboard on 127.0.0.1, says its address on stderr, and ends with 0 by SIGINT and SIGTERM, whoever reads from it.',
  'ui-door':
    'Of all combinations of Host, Origin, Sec-Fetch-Site, token, cookie and method only the right ones pass the door of the dashboard.',
  'ui-token':
    'The token of the printed address is exchanged for a cookie that scripts cannot read and other sites do not send; a restart keeps it.',
  'ui-headers':
    'Every answer of the dashboard carries its content policy and the headers that keep it to itself, refusals included.',
  'ui-routes':
    'Below /api there is one table of routes: other paths are 404, other methods 405, and bodies are JSON of known fields within a limit.',
  'ui-files': 'Only the files of the built page can be had from the disk, whatever a path says.',
  'ui-read-only': 'A dashboard that is read-only refuses everything that would change something.',
  'ui-untrusted':
    'What tools say and leave is served as JSON, or as an attachment that no browser shows.',
  'ui-stream':
    'One stream brings news of the list and the events of a run, and goes on by id after a restart: nothing is lost, nothing comes twice.',
  'ui-stream-bounded': 'A reader that does not read holds nothing but its own connection.',
}
