import { scrub } from '../../../infra/log/log.ts';
import { mapTexts } from '../../json/canonical.ts';

/** A signed address of our own media opens the object for an hour; its id says as much and opens nothing. */
const OWN_SIGNED = /https?:\/\/[^\s"/]+\/media\/(med_[0-9a-f]{32})\/[^\s"?]*\?[^\s"]*/g;
/** Made for one attempt of one platform: the token is all of it. */
const OWN_FETCH = /(https?:\/\/[^\s"/]+\/media\/a\/)[^\s"/]+/g;
/** What makes a foreign address open: the parameters by which storage services sign. */
const FOREIGN_SIGNATURE = /([?&](?:x-(?:amz|goog)-(?:signature|security-token|credential)|signature|sig|token)=)[^&#\s"]+/gi;

/** A copy without what would open anything in the hands of whoever is given it. */
export function redacted<T>(value: T): T {
  return mapTexts(value, (text) => scrub(text.replace(OWN_SIGNED, '$1').replace(OWN_FETCH, '$1[secret]').replace(FOREIGN_SIGNATURE, '$1[secret]')));
}
