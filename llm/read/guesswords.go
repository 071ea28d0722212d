package read

import "regexp"

// words makes one expression of alternatives, one a language.
func words(prefix, suffix string, alternatives ...string) *regexp.Regexp {
	all := ""
	for i, a := range alternatives {
		if i > 0 {
			all += "|"
		}
		all += a
	}
	return regexp.MustCompile(prefix + "(?:" + all + ")" + suffix)
}

// What follows is about English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Chinese and Japanese, in
// this order. RE2's \b knows ASCII letters only, so it stands beside those.

var polite = regexp.MustCompile(`^(?:(?:please|hey|hi|hello|so|ok|okay|well|and|but|quick question)[,: ]+)*` +
	`(?:(?:can|could|would|will) you (?:please )?(?:tell me )?|please (?:tell me )?|tell me |do you know |` +
	`i (?:want|would like) to know )?`)

var explaining = words("", "",
	`\b(?:why|how come|explain|explanation|describe|discuss|justify|elaborate|compare|contrast|summari[sz]e|translate|`+
		`rewrite|paraphrase|reasons?|reasoning|step[ -]by[ -]step|show (?:me )?your|with examples?|give examples?|`+
		`give (?:me )?an?|write (?:an?|me|the|some)|draft|list (?:the|all|some|of)|in detail|pros and cons|`+
		`what (?:should|can|could) (?:i|we)|suggest|recommend|tips|ideas?)\b`,
	`warum|wieso|weshalb|begründ|erklär|erläuter|beschreib|übersetz|\bschreib|nenne |vergleich|\btipps\b|was soll`,
	`pourquoi|expliqu|décri[st] |tradui|justifi|(?:^|[ .,])écri(?:s|vez) |compare`,
	`por qué|explic|traduc|\bescrib[ea]\b|describ|compar`,
	`perché|spieg|tradu|scriv|descriv|confront|consigli`,
	`por que |expliqu|\bescrev[ae]\b|descrev|compar|traduz`,
	`waarom|leg uit|vertaal|schrijf|beschrijf|vergelijk|verstandig`,
	`dlaczego|wyjaśni|uzasadni|przetłumacz|napisz|opisz|porówna`,
	`为什么|为何|怎么|如何|解释|说明|翻译|写一|理由|原因|推荐|介绍|区别`,
	`なぜ|どうして|理由|説明|翻訳|書いて|教えて|違い|おすすめ|どうすれば`)

// andAlso is a second question in one sentence.
var andAlso = words(`(?:[a-z0-9,;)] ?|\b)`, "",
	`\band (?:how|what|why|which|where|who|when|should|can|could|does|is|are|do)\b`,
	`\bund (?:wie|was|warum|welche|wo|wer|wann)\b`, `\bet (?:comment|que|quoi|pourquoi|où|qui|par où)\b`,
	`\by (?:cómo|qué|por|dónde|quién)\b`, `\be (?:come|cosa|che cosa|perché|dove|chi)\b`,
	`\be (?:como|o que|por que|onde|quem)\b`, `\ben (?:hoe|wat|waarom|waar|wie)\b`, `\bi (?:jak|co|dlaczego|gdzie)\b`,
	`怎么|应该`, `どう`)

// advice are words of questions that want advice or a view.
var advice = words("", "",
	`\b(?:should|ought|recommend(?:ed)?|best|worst|better|good|bad|great|safe|unsafe|dangerous|healthy|harmful|`+
		`okay|ok|`+
		`worth|legal|illegal|allowed|wrong|possible|easiest|hardest|fair|ethical|normal|violent|moral|(?:do|can|`+
		`may|am|will|`+
		`did|would|could|must) (?:i|we)|your|my|our|think)\b`,
	`\b(?:sollte|soll|sollen|gut|schlecht|besser|gefährlich|gesund|erlaubt|ich|wir|mir|sinnvoll|lohnt)\b`,
	`\b(?:bonne|bon|mauvais|mieux|faut|dois|je|tu|vous|nous|dangereux|sain)\b`,
	`\b(?:bueno|buena|malo|mejor|debo|deber[ií]a|puedo|puedes|peligroso|sano)\b`,
	`\b(?:bene|buono|meglio|sano|devo|posso|puoi|dovrei|pericoloso)\b`,
	`\b(?:bom|boa|melhor|devo|posso|pode|vale a pena|perigoso|eu)\b|você`,
	`\b(?:goed|slecht|beter|veilig|gezond|moet|kun|kan ik|ik|mijn|nodig)\b`,
	`\b(?:warto|dobr[aeyz]|lepiej|powin|mog[eę]|możesz|mam |bezpieczn|zdrow)`,
	`好吗|应该|可以|能不能|你|我|需要|值得|健康`,
	`いいですか|べき|くれますか|もらえ|できますか|必要|あなた|私|かかりますか`)

// matters are what superlatives are often about where no name is the answer.
var matters = regexp.MustCompile(`\b(?:ways?|mistakes?|challenges?|problems?|lessons?|advantages?|things?|reasons?)\b`)

// others are pronouns and words that make a yes-no question one about those who talk, about what was said before, or a
// request for a list.
var others = regexp.MustCompile(`\b(?:you|it|he|she|they|there|that|this|these|those|any|some|anyone|me|us)\b|` +
	`^(?:was|wie) (?:ist|sind|war|macht|soll|kann|hat)\b`)

var howMany = words(`^`, ``,
	`(?:[a-z0-9', ]{0,60} )?how many `, `(?:in[a-zäöü ]{0,40} )?wie ?viele `,
	`combien (?:de |d'|y a-t-il de |y a-t-il d')`,
	`¿?cuánt[oa]s `, `quant[ie] |quante regioni `, `quant[oa]s `,
	`hoeveel [a-z]+ (?:heeft|zijn|zitten|telt|gaan|hebben)\b`,
	`ile [a-ząćęłńóśźż]+ (?:ma|jest|mają|liczy|trwa)\b|ile jest `,
	`.{0,60}(?:几|多少)(?:个|条|只|名|位|天|岁|颗|座|根|张|人|本|年)?[^,。]{0,20}\?$`,
	`.{0,60}(?:いくつ|何[本人個枚匹台回日年歳冊頭羽分]|何ヶ国).{0,12}\?$`)

var (
	howMuch = regexp.MustCompile(`\bhow (?:much|far|tall|long|fast|heavy|deep|old)\b|\bwie ?viel\b|combien|¿?cuánto|` +
		`\bquanto\b|\bhoeveel\b|\bile\b|多少|いくら`)
	percentOf = regexp.MustCompile(`\b(?:percent(?:age)?|tip on|average of|sum of|product of|square root of|` +
		`cube root of)\b|%`)
	year = regexp.MustCompile(`^(?:in )?(?:what|which) year (?:was|were|did|is|does)\b|^in welchem jahr |` +
		`^en quelle année |` +
		`^¿?en qué año |^in (?:quale|che) anno |^em que ano |^in welk jaar |^w którym roku `)
	numerals = regexp.MustCompile(`[0-9]+`)
)

// The parts of a question for the value of an expression.
var (
	leadIn = words(`^`, `\s*`,
		`(?:what(?: is|'s|s)?|calculate|compute|evaluate|how much is|solve|work out)\b(?: the (?:value|result) of\b)?`,
		`(?:was|wieviel|wie viel)(?: ist| ergibt| macht| sind)\b|berechne\b`, `combien (?:font|fait)\b|calcule[rz]?\b`,
		`¿?cuánto (?:es|son)\b|calcula\b`, `quanto fa(?:nno)?\b|calcola\b`, `quanto é|calcule\b`,
		`hoeveel is\b|bereken\b`,
		`ile (?:to )?(?:jest )?|oblicz\b`, `计算`, `計算`)
	leadOut    = regexp.MustCompile(`\s*(?:等于多少|是多少|等于几|はいくつですか|はいくつ|は何ですか|=)\s*$`)
	expression = regexp.MustCompile(`^[-+(\[ ]*(?:(?:the )?(?:square root|cube root|sqrt|factorial) (?:of )?)?` +
		`[0-9][0-9.,%\s()\[\]+*/^×÷·!−-]*(?:(?:plus|minus|times|x|mod|modulo|divided by|multiplied by|` +
		`to the power of|` +
		`squared|cubed|of|mal|geteilt durch|durch|hoch|von|fois|divisé par|moins|por|más|menos|dividido entre|` +
		`dividido por|` +
		`entre|per|più|meno|diviso|vezes|mais|keer|min|gedeeld door|razy|dodać|odjąć|podzielić przez|乘以|乘|加|减|除以|` +
		`かける|たす|ひく|わる)` +
		`[\s0-9.,%()+*/^×÷·−-]*)*$`)
	operator = regexp.MustCompile(`[0-9)!%]\s*(?:[-+*/^×÷·!−]|%|[a-ząćęłńóśźżáéíóúãõçèùà]+|乘|加|减|除|かける|たす|ひく|わる)|` +
		`root|sqrt|factorial`)
	dated     = regexp.MustCompile(`^[0-9]{2,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}$|^[0-9.,\s%]+$`)
	spacedOut = regexp.MustCompile(`[0-9)] [-/×x−] [(0-9]|[a-z]{3}|[乘加减除かたひわ]`)
)

// Formulas and what is done with them.
var (
	works = regexp.MustCompile(`^(?:simplify|factor(?:ise|ize)?|expand|differentiate|integrate|solve|evaluate|` +
		`compute|` +
		`calculate|find (?:[a-z]|f\([a-z0-9]\)|the (?:value|sum|product|roots?|zeros?|solutions?|derivative|` +
		`integral|area|` +
		`minimum|maximum|limit)[^:]*|all [^:]*|[$\\][^:]*)(?:[ ,.?$]|$)|what is the (?:derivative|integral|` +
		`antiderivative|limit|value|solution)|löse|berechne|vereinfache|` +
		`résou[sd]|calcule|resuelve|risolvi|resolva|los |rozwiąż|求|解)|^provide a formula\b`)
	texts   = regexp.MustCompile(`\b(?:sentence|paragraph|essay|text|code|bug|function|script|program|story|email)s?\b`)
	tex     = regexp.MustCompile(`\\(?:\(|\[|[a-zA-Z]{2,})|\$\$|\$[^$\s](?:[^$\n]*[^$\s\n])?\$(?:[^0-9]|$)`)
	algebra = regexp.MustCompile(`\b[a-z]\^[0-9a-z(]|\b[a-z]\s*=\s*[0-9a-z(-]|\b[0-9]+[xyz]\b|\bnth term\b`)
)

// saysYesOrNo is a question that says that its answer is yes or no.
var saysYesOrNo = words("", "",
	`\btrue or false\b|\byes or no\b|\btrue/false\b|\byes/no\b|\(t/f\)|\(y/n\)`,
	`\bja oder nein\b|\bwahr oder falsch\b`,
	`\boui ou non\b|\bvrai ou faux\b`, `\bsí o no\b|\bverdadero o falso\b`, `\bsì o no\b|\bvero o falso\b`,
	`\bsim ou não\b|\bverdadeiro ou falso\b`, `\bja of nee\b|\bwaar of onwaar\b`,
	`\btak czy nie\b|\bprawda czy fałsz\b`,
	`是或否|是还是不是|对还是错`, `はいかいいえ|正しいか`)

// isIt is a question for yes or no about somebody or something else than those who talk.
var isIt = words(`^`, ``,
	`(?:is|are|was|were|does|do|did|has|have|had|can) [a-z0-9]`,
	`(?:ist|sind|war|waren|hat|haben|liegt|liegen|gehört|gehören|gibt|kann|können) `,
	`est-ce qu(?:e |')|(?:est|sont)-(?:il|elle|ils|elles) |l[ae] [a-zéèêç' -]+ (?:est|fait|a|sont|ont)-(?:il|elle|`+
		`t-il|t-elle|ils|elles) `,
	`(?:es|está|están|son|fue|tiene|hay|existe) `,
	`è |(?:il|la|lo|l'|le|i|gli) ?[a-zàèéìòù0-9' ]+ (?:è|ha|sono|si trova) [^?]+\?`,
	`(?:é|está) |(?:o|a|os|as) [a-zà-ú0-9 ]+ (?:é|tem|fica|são) [^?]+\?|[a-zà-ú]+ (?:é|fica) (?:a|o|na|no|em) [^?]+\?`,
	`(?:is|zijn|was|heeft|ligt|liggen|hoort) `, `czy `, `[^?,。]{1,30}吗\?`, `[^?、。]{1,30}(?:ですか|ますか)\?`)

// either offers alternatives, or asks with another word after all.
var either = words("", "",
	`\bor\b(?: not)?`, `\boder\b`, `\bou\b`, `(?:^| )o `, `\bof\b [a-z]+ [a-z]+ (?:niet)?`,
	`\balbo\b|\bczy\b.+\bczy\b`, `还是`,
	`何|どこ|誰|だれ|いつ|どれ|どの|どんな|どう|いくつ|それとも`)

// picks asks to choose one of listed choices.
var picks = words("", "",
	`\b(?:which|choose|select|pick|correct (?:answer|option|choice)|best (?:answer|option|ending)|option)\b`,
	`\bwelche[rsmn]?\b|\bwähle\b`, `\bquel(?:le)?s?\b|\bchoisi`, `\bcuál\b|\belige\b`, `\bquale?\b|\bscegli`,
	`\bqual\b|\bescolh`,
	`\bwelke?\b|\bkies\b`, `\bktór[aeyi]|\bwybierz`, `哪|选择`, `どれ|選`)

// naming is a question for a name, a date or a word.
var naming = words(`^`, ``,
	`(?:what|which|whats|what's|what is|name|state) (?:\w+ ){0,4}?(?:the )?(?:largest|biggest|smallest|tallest|`+
		`longest|shortest|`+
		`highest|lowest|deepest|oldest|youngest|fastest|slowest|hottest|coldest|closest|nearest|heaviest)\b`,
	`(?:what|which) (?:\w+ ){1,5}(?:is|was|are) (?:the )?(?:largest|biggest|smallest|tallest|longest|shortest|`+
		`highest|deepest|`+
		`oldest|youngest|fastest|slowest|hottest|coldest|closest|nearest|heaviest)\b`,
	`(?:what(?: is|'s| was)|name|state) the (?:name|capital|currency|author|chemical symbol|chemical formula|`+
		`official language|`+
		`past tense|plural|opposite|abbreviation|atomic number) of\b`,
	`who (?:first )?(?:wrote|painted|invented|discovered|created|composed|directed|founded|designed|sang|played|`+
		`coined|`+
		`sculpted|developed|built)\b`,
	`who (?:is|was|are|were|will be) the (?:[a-z]+ )?(?:first|current|last|author|president|king|queen|inventor|`+
		`founder|prime|`+
		`chancellor|director|composer|ceo|[a-z]+ (?:[a-z]+ )?who)\b`,
	`what does [a-z]{2,8} stand for\b`, `how do you say ["'].+ in [a-z]+`,
	`[a-z][^?]{5,100} (?:is|are) (?:called|known as)$`,
	`convert [a-z ]{0,20}[0-9][^?\n]{0,60} (?:to|into) [a-z/ ]{1,30}$`,
	`(?:is|are|was|were) [a-z ]{2,30} an? [a-z]+ or an? [a-z]+\??$`,
	`(?:is|are|was|were) the [a-z]+ [a-z]+ or [a-z]+\??$`, `what language (?:do|does|is)\b`,
	`wer (?:hat|war der|war die) [^?]{3,60}(?:geschrieben|gemalt|erfunden|entdeckt|komponiert|gebaut|gegründet)\?$`,
	`wer (?:schrieb|malte|erfand|entdeckte|komponierte|gründete) `,
	`(?:was|wie|welche|welches|wo) (?:ist|heißt) die hauptstadt `,
	`qui a (?:écrit|peint|inventé|découvert|composé|fondé|réalisé) `, `quelle est la capitale `,
	`¿?quién (?:escribió|pintó|inventó|descubrió|compuso|fundó|dirigió) `, `¿?cuál es la capital `,
	`chi ha (?:scritto|dipinto|inventato|scoperto|composto|fondato|diretto) `, `qual è la capitale `,
	`quem (?:escreveu|pintou|inventou|descobriu|compôs|fundou|dirigiu) `, `qual é a capital `,
	`wie (?:schreef|schilderde|vond|ontdekte|componeerde|stichtte) `, `wat is de hoofdstad `,
	`kto (?:napisał|namalował|wynalazł|odkrył|skomponował|założył) `, `jaka jest stolica `,
	`.{1,20}的首都(?:是哪里|是什么|在哪)`, `.{1,30}的作者是谁|谁(?:写|画|发明|发现)了`,
	`.{1,20}の首都(?:はどこ|は何)`, `.{1,30}の作者は誰|.{1,30}を(?:書いた|描いた|発明した)のは誰`)

// sorting asks to say to which of some classes something belongs.
var sorting = regexp.MustCompile(`^(?:please )?(?:classify|categori[sz]e)\b.{0,200}\b(?:into|as|one of)\b|` +
	`^(?:please )?(?:decide|determine)\b.{0,120}\b(?:if|whether|which)\b|\bdetermine whether\b.{0,80}\b(?:or not)\b|` +
	`\band categori[sz]e it as\b|\b(?:find|state) the (?:[a-z]+ ){0,2}(?:code|symbol|abbreviation) (?:of|for|` +
	`associated)\b|` +
	`^(?:please )?(?:indicate|identify|name) the (?:genre|language|author|sentiment) of\b`)

// deciding is about what those who ask are to do.
var deciding = regexp.MustCompile(`\b(?:if|whether|which) (?:i|we|you|my|our)\b`)
