# Net::OAuth dies on a reply that has a parameter of the protocol which it does not know.
use strict;
use warnings;
use Net::OAuth;
use JSON::PP;

$Net::OAuth::PROTOCOL_VERSION = Net::OAuth::PROTOCOL_VERSION_1_0A;

my ($base, $key, $secret) = @ENV{qw(BASE CONSUMER_KEY CONSUMER_SECRET)};
my %common = (
    consumer_key     => $key,
    consumer_secret  => $secret,
    signature_method => 'HMAC-SHA1',
);
my $count = 0;

sub request {
    my ($kind, $method, $url, %more) = @_;
    my $request = Net::OAuth->request($kind)->new(
        %common,
        request_method   => $method,
        request_url      => $url,
        timestamp        => time,
        nonce            => "perl$$." . $count++,
        %more,
    );
    $request->sign;
    open my $curl, '-|', 'curl', '-sf', '--cacert', $ENV{CA_FILE}, '-X', $method,
        '-H', 'Authorization: ' . $request->to_authorization_header, $url
        or die;
    local $/;
    my $reply = <$curl>;
    close $curl or die "$kind was refused";
    return $reply;
}

my $asked = Net::OAuth->response('request token')->from_post_body(
    request('request token', 'POST', "$base/oauth1/request_token", callback => $ENV{CALLBACK}));
open my $approve, '-|', $ENV{NODE}, '-e',
    "import('$ENV{APPROVE}').then(({ approve }) => approve(process.argv[1])).then((url) => { console.log(url.searchParams.get('oauth_verifier')); process.reallyExit(0); })",
    "$base/oauth1/authorize?oauth_token=" . $asked->token
    or die;
my $verifier = <$approve>;
chomp $verifier;
my $granted = Net::OAuth->response('access token')->from_post_body(
    request('access token', 'POST', "$base/oauth1/access_token",
        token => $asked->token, token_secret => $asked->token_secret, verifier => $verifier));
request('protected resource', 'GET', "$base/users/$ENV{USER_NAME}/financialrecords",
    token => $granted->token, token_secret => $granted->token_secret);
print encode_json(['three legs', 'resource']), "\n";
